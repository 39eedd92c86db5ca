-- People. A user belongs to no tenant, so there is no tenant to scope by.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text,
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE tenants (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  fingerprint_tokens boolean NOT NULL DEFAULT false,
  deduplicate_tokens boolean NOT NULL DEFAULT false,
  included_monthly_active_tokens bigint CHECK (included_monthly_active_tokens >= 0),
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  modified_by uuid,
  modified_at timestamptz(3),
  -- Set by deletion: from then on nobody but the purge sees the row.
  deleted_at timestamptz(3)
);
CREATE INDEX tenants_deleted ON tenants (deleted_at) WHERE deleted_at IS NOT NULL;

-- The tenant's own random keys, wrapped by the root key. Deleting these rows is what destroys a tenant's data.
CREATE TABLE tenant_keys (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  kind text NOT NULL,
  version integer NOT NULL,
  wrapped bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, kind, version)
);

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE tenant_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY app ON tenants TO strongroom_app
  USING (id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY system ON tenants FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON tenants TO strongroom_purge
  USING (id = ANY ((SELECT strongroom_scope())::uuid[]) AND deleted_at IS NOT NULL);

CREATE POLICY app ON tenant_keys TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON tenant_keys TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));

GRANT INSERT ON users TO strongroom_app;
GRANT SELECT ON users TO strongroom_system;
GRANT SELECT, INSERT, UPDATE ON tenants TO strongroom_app;
GRANT SELECT ON tenants TO strongroom_system;
GRANT SELECT, DELETE ON tenants TO strongroom_purge;
GRANT SELECT, INSERT, DELETE ON tenant_keys TO strongroom_app;
GRANT SELECT, DELETE ON tenant_keys TO strongroom_purge;
