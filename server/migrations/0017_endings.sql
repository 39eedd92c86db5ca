-- A session remembers the key it was authorized with, and ends with it. Null: not authorized yet, or authorized before this
-- was remembered; the keyed hash of the row covers it.
ALTER TABLE sessions ADD COLUMN authorized_key uuid;
-- Leads like the one it replaces, which a deleted application needs, and finds the sessions of one key.
CREATE INDEX sessions_of_key ON sessions (tenant_id, authorized_by, authorized_key) WHERE authorized_by IS NOT NULL;
DROP INDEX sessions_of_authorizer;

-- Keys past their end, whose sessions are to be ended and which then go.
CREATE INDEX api_keys_due ON api_keys (expires_at, tenant_id) WHERE expires_at IS NOT NULL;

-- Which tokens a kept answer shows: when one goes, what is kept of the answer goes with it, and only that the request
-- succeeded stays (an empty record). A table, not an array: under row-level security only plain equality uses an index.
CREATE TABLE kept_tokens (
  tenant_id uuid NOT NULL,
  answer bytea NOT NULL,
  -- The token's name of fixed size, as in tokens.tie.
  token uuid NOT NULL,
  PRIMARY KEY (tenant_id, answer, token),
  FOREIGN KEY (tenant_id, answer) REFERENCES idempotency_keys (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX kept_tokens_by_token ON kept_tokens (tenant_id, token);

ALTER TABLE kept_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE kept_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON kept_tokens TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON kept_tokens TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON kept_tokens FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, DELETE ON kept_tokens TO strongroom_app;
GRANT SELECT, DELETE ON kept_tokens TO strongroom_purge;
