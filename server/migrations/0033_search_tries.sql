-- Details of an entry: a list of {"field", "from", "to"}. Never data, secrets or code.
ALTER TABLE logs ADD COLUMN changes jsonb;

-- How many values an Application has searched for among tokens that it is not shown in the clear, on the last day (UTC) it did.
CREATE TABLE search_tries (
  tenant_id uuid NOT NULL,
  application_id uuid NOT NULL,
  day date NOT NULL,
  tried integer NOT NULL,
  -- The security log has the line that says that the bound of that day was reached.
  is_reported boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, application_id)
) WITH (fillfactor = 50);

ALTER TABLE search_tries ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_tries FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON search_tries TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON search_tries TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON search_tries FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE ON search_tries TO strongroom_app;
GRANT SELECT, DELETE ON search_tries TO strongroom_purge;
