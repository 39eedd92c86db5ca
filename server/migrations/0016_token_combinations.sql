-- A combination is a type with a set of containers. Each has a row of token_groups in every slot it is counted in, and one in
-- slot -1 that says that it was let in, by whom, and when it was last asked for: there is a bound on how many a tenant may
-- have, and a lower one on what public keys and sessions may add.
ALTER TABLE token_groups ADD COLUMN by_stranger boolean NOT NULL DEFAULT false;
ALTER TABLE token_groups ADD COLUMN seen_at timestamptz;

-- Whatever is there was let in. An owner that is no superuser sees rows of tenants only while they are not kept from it.
ALTER TABLE token_groups NO FORCE ROW LEVEL SECURITY;
INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count, seen_at)
  SELECT DISTINCT ON (tenant_id, group_id) tenant_id, group_id, -1, type, containers, 0, now()
  FROM token_groups ORDER BY tenant_id, group_id, slot;
ALTER TABLE token_groups FORCE ROW LEVEL SECURITY;

CREATE INDEX token_groups_let_in ON token_groups (tenant_id, by_stranger) WHERE slot = -1;

-- Goes up with every combination that is let in, so that a process can tell whether it knows all of them. No row: none was.
CREATE TABLE token_directories (
  tenant_id uuid PRIMARY KEY,
  version bigint NOT NULL
);
ALTER TABLE token_directories ENABLE ROW LEVEL SECURITY;
ALTER TABLE token_directories FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON token_directories TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON token_directories TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON token_directories FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON token_directories TO strongroom_app;
GRANT SELECT, DELETE ON token_directories TO strongroom_purge;
