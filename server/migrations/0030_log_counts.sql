-- How many log entries of a kind an actor made on a day (UTC), written with the entries. Writers in different lanes add to
-- different slots. Nothing refers to tenants: each entry would lock the tenant's row.
--
-- Sessions are counted as one actor, or each would have rows of its own; they and what the product does by itself have the
-- id of zeros, and the type of the latter is empty. The texts are compared byte by byte, which no locale makes slow.
CREATE TABLE log_counts (
  tenant_id uuid NOT NULL,
  day date NOT NULL,
  actor_type text COLLATE "C" NOT NULL,
  actor_id uuid NOT NULL,
  entity_type text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  slot smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, day, actor_type, actor_id, entity_type, operation, outcome, slot)
  -- A row is changed with every batch of its day: with room on its page the change touches no index.
) WITH (fillfactor = 50);
-- Days that are over.
CREATE INDEX log_counts_due ON log_counts (day, tenant_id);

-- The entries there are. The policy for backups lets the owner read them, without a lock that writers would wait for.
SELECT set_config('strongroom.backup', 'on', true);
INSERT INTO log_counts (tenant_id, day, actor_type, actor_id, entity_type, operation, outcome, slot, count)
  SELECT l.tenant_id, (l.created_at AT TIME ZONE 'UTC')::date, coalesce(l.actor_type, ''),
    CASE WHEN l.actor_type IN ('application', 'user') AND l.actor_id IS NOT NULL THEN l.actor_id
      ELSE '00000000-0000-0000-0000-000000000000' END,
    l.entity_type, l.operation, l.outcome, 0, count(*)
  FROM logs l JOIN tenants t ON t.id = l.tenant_id AND t.deleted_at IS NULL
  WHERE l.created_at >= now() - interval '400 days'
  GROUP BY 1, 2, 3, 4, 5, 6, 7;
SELECT set_config('strongroom.backup', '', true);

ALTER TABLE log_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE log_counts FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON log_counts TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY due ON log_counts FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON log_counts TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON log_counts FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON log_counts TO strongroom_app;
GRANT SELECT (tenant_id, day) ON log_counts TO strongroom_system;
GRANT SELECT, DELETE ON log_counts TO strongroom_purge;
