-- A call of a Reactor whose result is sent or fetched later. What was asked (arguments as they were sent, where the result goes)
-- and what came of it are one sealed record; Reactor and actor stand in it too, and count only while they are what is sealed.
CREATE TABLE reactor_requests (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  reactor_id uuid NOT NULL,
  -- queued: has to run. delivering: has run, its result has to be sent. done, failed, cancelled: nothing is left to do.
  state text NOT NULL,
  -- There is a result of the code, so it never runs again.
  has_run boolean NOT NULL,
  has_callback boolean NOT NULL,
  actor_type text NOT NULL,
  actor_id uuid NOT NULL,
  trace_id text,
  source_address text,
  timeout_ms integer NOT NULL,
  -- Runs that were begun.
  attempt integer NOT NULL,
  -- Times that what the state calls for was begun, since it does.
  tries integer NOT NULL,
  -- When somebody may take it. Whoever did has it until then, by the name in lease.
  due_at timestamptz(3) NOT NULL,
  lease uuid,
  -- What went wrong last.
  failure_code text,
  failure_status integer,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  expires_at timestamptz(3),
  -- Counts the writes of the record; it opens under this number alone.
  version integer NOT NULL,
  bytes integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, reactor_id) REFERENCES reactors (tenant_id, id) ON DELETE CASCADE
);
-- Finds tenants with work, the work of a tenant, and how much of it there is.
CREATE INDEX reactor_requests_due ON reactor_requests (tenant_id, state, due_at) INCLUDE (bytes)
  WHERE state IN ('queued', 'delivering');
CREATE INDEX reactor_requests_open ON reactor_requests (tenant_id, reactor_id, created_at, id)
  WHERE state IN ('queued', 'delivering', 'failed');
-- For the end of a Reactor.
CREATE INDEX reactor_requests_of_reactor ON reactor_requests (tenant_id, reactor_id);
CREATE INDEX reactor_requests_over ON reactor_requests (expires_at, tenant_id) WHERE expires_at IS NOT NULL;

ALTER TABLE reactor_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE reactor_requests FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON reactor_requests TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON reactor_requests TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON reactor_requests FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
-- Processes ask across tenants who has something to do or to remove, and see nothing else of a request.
CREATE POLICY due ON reactor_requests FOR SELECT TO strongroom_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON reactor_requests TO strongroom_app;
GRANT SELECT, DELETE ON reactor_requests TO strongroom_purge;
GRANT SELECT (tenant_id, state, due_at, expires_at) ON reactor_requests TO strongroom_system;
