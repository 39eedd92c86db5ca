-- A Reactor: code of a tenant, with its settings and the Application it acts as. Code, configuration, Application and the
-- secret of its callbacks are sealed; name and application_id stand beside them to be found by, and count only while they are
-- what is sealed. No foreign key leads to the Application: a Reactor outlives it, and an id that leads nowhere is none.
CREATE TABLE reactors (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  application_id uuid,
  -- Counts the writes; the record opens under this number alone.
  version integer NOT NULL,
  sealed bytea NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  modified_by uuid,
  modified_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX reactors_by_time ON reactors (tenant_id, created_at, id);
CREATE INDEX reactors_by_name ON reactors (tenant_id, name, created_at, id);

-- What a Reactor was before a change, without the secret.
CREATE TABLE reactor_versions (
  tenant_id uuid NOT NULL,
  reactor_id uuid NOT NULL,
  version integer NOT NULL,
  sealed bytea NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, reactor_id, version),
  FOREIGN KEY (tenant_id, reactor_id) REFERENCES reactors (tenant_id, id) ON DELETE CASCADE
);

ALTER TABLE reactors ENABLE ROW LEVEL SECURITY;
ALTER TABLE reactors FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON reactors TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON reactors TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON reactors FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON reactors TO strongroom_app;
GRANT SELECT, DELETE ON reactors TO strongroom_purge;

ALTER TABLE reactor_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE reactor_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON reactor_versions TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON reactor_versions TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON reactor_versions FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON reactor_versions TO strongroom_app;
GRANT SELECT, DELETE ON reactor_versions TO strongroom_purge;

-- Of code that ran: which version of it.
ALTER TABLE logs ADD COLUMN entity_version integer;
