-- A session is made by a public application, without rights, and given some by a private one. Its key and its nonce are
-- stored as keyed hashes. The index on the key's hash is not unique, so that every unique key leads with the tenant.
CREATE TABLE sessions (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  hash bytea NOT NULL,
  nonce_hash bytea NOT NULL,
  created_by uuid NOT NULL,
  authorized_by uuid,
  permissions text[] NOT NULL DEFAULT '{}',
  rules text NOT NULL DEFAULT '[]',
  -- Keyed hash over whose session this is and what it may do.
  mac bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, created_by) REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, authorized_by) REFERENCES applications (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_hash ON sessions (hash);
CREATE INDEX sessions_by_nonce ON sessions (tenant_id, nonce_hash);
CREATE INDEX sessions_of_creator ON sessions (tenant_id, created_by);
CREATE INDEX sessions_of_authorizer ON sessions (tenant_id, authorized_by) WHERE authorized_by IS NOT NULL;
CREATE INDEX sessions_due ON sessions (expires_at, tenant_id);

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON sessions TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY system ON sessions FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON sessions TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO strongroom_app;
GRANT SELECT ON sessions TO strongroom_system;
GRANT SELECT, DELETE ON sessions TO strongroom_purge;
