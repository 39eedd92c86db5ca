-- What became of the calls of a Reactor on a day (UTC), a row a counter: `calls`, `cold`, `error:<class>` and `ms:<n>`, the
-- runs whose duration fell into bucket n. Their number is bounded for each day, however many calls there are.
CREATE TABLE reactor_figures (
  tenant_id uuid NOT NULL,
  reactor_id uuid NOT NULL,
  day date NOT NULL,
  figure text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, reactor_id, day, figure),
  FOREIGN KEY (tenant_id, reactor_id) REFERENCES reactors (tenant_id, id) ON DELETE CASCADE
);
-- Days that are over.
CREATE INDEX reactor_figures_due ON reactor_figures (day, tenant_id);

ALTER TABLE reactor_figures ENABLE ROW LEVEL SECURITY;
ALTER TABLE reactor_figures FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON reactor_figures TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY due ON reactor_figures FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON reactor_figures TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON reactor_figures FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON reactor_figures TO strongroom_app;
GRANT SELECT (tenant_id, day) ON reactor_figures TO strongroom_system;
GRANT SELECT, DELETE ON reactor_figures TO strongroom_purge;
