-- A Proxy: a destination of a tenant, with the code that requests and answers pass through, its settings and the Application it
-- acts as. All of it is sealed, its key as well; name, application_id and key_hash stand beside it to be found by, and count only
-- while they are what is sealed. No foreign key leads to the Application: a Proxy outlives it, and an id that leads nowhere is
-- none. The index on the key's hash is not unique, so that every unique key leads with the tenant.
CREATE TABLE proxies (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  application_id uuid,
  -- Keyed hash of the proxy key: whose Proxy a request names is asked before the tenant is known.
  key_hash bytea NOT NULL,
  -- Counts the writes; the record opens under this number alone.
  version integer NOT NULL,
  sealed bytea NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  modified_by uuid,
  modified_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX proxies_by_key ON proxies (key_hash);
CREATE INDEX proxies_by_time ON proxies (tenant_id, created_at, id);
CREATE INDEX proxies_by_name ON proxies (tenant_id, name, created_at, id);

-- What a Proxy was before a change, without the key.
CREATE TABLE proxy_versions (
  tenant_id uuid NOT NULL,
  proxy_id uuid NOT NULL,
  version integer NOT NULL,
  sealed bytea NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, proxy_id, version),
  FOREIGN KEY (tenant_id, proxy_id) REFERENCES proxies (tenant_id, id) ON DELETE CASCADE
);

-- What became of the calls of a Proxy on a day (UTC), with the counters that `reactor_figures` has.
CREATE TABLE proxy_figures (
  tenant_id uuid NOT NULL,
  proxy_id uuid NOT NULL,
  day date NOT NULL,
  figure text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, proxy_id, day, figure),
  FOREIGN KEY (tenant_id, proxy_id) REFERENCES proxies (tenant_id, id) ON DELETE CASCADE
);
-- Days that are over.
CREATE INDEX proxy_figures_due ON proxy_figures (day, tenant_id);

ALTER TABLE proxies ENABLE ROW LEVEL SECURITY;
ALTER TABLE proxies FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON proxies TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY system ON proxies FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON proxies TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON proxies FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON proxies TO strongroom_app;
-- Whose a key is, and nothing of what the Proxy says.
GRANT SELECT (tenant_id, id, key_hash) ON proxies TO strongroom_system;
GRANT SELECT, DELETE ON proxies TO strongroom_purge;

ALTER TABLE proxy_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE proxy_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON proxy_versions TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON proxy_versions TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON proxy_versions FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON proxy_versions TO strongroom_app;
GRANT SELECT, DELETE ON proxy_versions TO strongroom_purge;

ALTER TABLE proxy_figures ENABLE ROW LEVEL SECURITY;
ALTER TABLE proxy_figures FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON proxy_figures TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY due ON proxy_figures FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON proxy_figures TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON proxy_figures FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON proxy_figures TO strongroom_app;
GRANT SELECT (tenant_id, day) ON proxy_figures TO strongroom_system;
GRANT SELECT, DELETE ON proxy_figures TO strongroom_purge;
