-- The answer of the first request under an idempotency key, written in the transaction of its effect.
CREATE TABLE idempotency_keys (
  tenant_id uuid NOT NULL,
  -- Keyed hash of who asked, the key, the method and the path.
  id bytea NOT NULL,
  status smallint NOT NULL,
  sealed bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idempotency_keys_due ON idempotency_keys (expires_at, tenant_id);

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON idempotency_keys TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY due ON idempotency_keys FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON idempotency_keys TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO strongroom_app;
GRANT SELECT (tenant_id, expires_at) ON idempotency_keys TO strongroom_system;
GRANT SELECT, DELETE ON idempotency_keys TO strongroom_purge;
