-- How far a rotation of a tenant's encryption key has come, so that it goes on where it stopped.
CREATE TABLE key_rotations (
  tenant_id uuid NOT NULL,
  to_version integer NOT NULL,
  -- The table being walked through and the last key that was looked at.
  stage text NOT NULL,
  place text NOT NULL,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  PRIMARY KEY (tenant_id, to_version)
);

ALTER TABLE key_rotations ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_rotations FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON key_rotations TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON key_rotations TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
GRANT SELECT, INSERT, UPDATE, DELETE ON key_rotations TO strongroom_app;
GRANT SELECT, DELETE ON key_rotations TO strongroom_purge;

-- A rotation of the root key wraps the keys of one tenant after the other anew, and those of the installation last.
GRANT UPDATE (wrapped) ON tenant_keys TO strongroom_app;
GRANT UPDATE (wrapped) ON system_keys TO strongroom_system;
GRANT UPDATE (root_key_id, sealed) ON root_key_check TO strongroom_system;
