-- A session remembers the key it was authorized with, and ends with it. Null: not authorized yet, or authorized before this
-- was remembered; the keyed hash of the row covers it.
ALTER TABLE sessions ADD COLUMN authorized_key uuid;
-- Leads like the one it replaces, which a deleted application needs, and finds the sessions of one key.
CREATE INDEX sessions_of_key ON sessions (tenant_id, authorized_by, authorized_key) WHERE authorized_by IS NOT NULL;
DROP INDEX sessions_of_authorizer;

-- Keys past their end, whose sessions are to be ended and which then go.
CREATE INDEX api_keys_due ON api_keys (expires_at, tenant_id) WHERE expires_at IS NOT NULL;
