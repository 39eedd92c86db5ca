CREATE TABLE applications (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  type text NOT NULL CHECK (type IN ('public', 'private', 'management')),
  permissions text[] NOT NULL,
  -- Keyed hash over what grants rights: an edit of this row by hand grants nothing.
  mac bytea NOT NULL,
  expires_at timestamptz(3),
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  modified_by uuid,
  modified_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);

-- The directory of credentials: who a key belongs to is the question that comes before the tenant is known, so its
-- primary key is the keyed hash. The key itself is stored nowhere.
CREATE TABLE api_keys (
  hash bytea PRIMARY KEY,
  tenant_id uuid NOT NULL,
  application_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Keyed hash over whose key this is: a row pointed at another application by hand opens nothing.
  mac bytea NOT NULL,
  expires_at timestamptz(3),
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  FOREIGN KEY (tenant_id, application_id) REFERENCES applications (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_of_application ON api_keys (tenant_id, application_id, created_at);

ALTER TABLE applications ENABLE ROW LEVEL SECURITY;
ALTER TABLE applications FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY app ON applications TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY system ON applications FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON applications TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));

CREATE POLICY app ON api_keys TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY system ON api_keys FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON api_keys TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));

GRANT SELECT, INSERT, UPDATE, DELETE ON applications, api_keys TO strongroom_app;
GRANT SELECT ON applications, api_keys TO strongroom_system;
GRANT SELECT, DELETE ON applications, api_keys TO strongroom_purge;
