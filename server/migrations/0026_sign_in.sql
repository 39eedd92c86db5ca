-- What users sign in with, and the sessions this opens. None of it belongs to a tenant; only strongroom_people works on it.
-- Everything that opens an account is a keyed hash, sealed, or under a MAC: a row that was written or moved here opens nothing.
CREATE TABLE user_passwords (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  hash text NOT NULL,
  changed_at timestamptz(3) NOT NULL
);

-- A session of the Portal. Its secret is in a cookie, and here as a keyed hash.
CREATE TABLE portal_sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  hash bytea NOT NULL,
  -- Keyed hash over whose it is, until when, and what was proven.
  mac bytea NOT NULL,
  -- When the user last proved who it is.
  signed_in_at timestamptz(3) NOT NULL,
  has_second_factor boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- To within a few minutes.
  seen_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  address text,
  agent text
);
CREATE UNIQUE INDEX portal_sessions_by_hash ON portal_sessions (hash);
CREATE INDEX portal_sessions_of_user ON portal_sessions (user_id, created_at);
CREATE INDEX portal_sessions_due ON portal_sessions (expires_at);

-- A link that works once: the set-up of an owner, a new password. Its secret is stored as a keyed hash.
CREATE TABLE user_links (
  hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  purpose text NOT NULL,
  mac bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX user_links_of_user ON user_links (user_id, purpose);
CREATE INDEX user_links_due ON user_links (expires_at);

-- Failed sign-ins of an account or of an address, each named by a keyed hash.
CREATE TABLE sign_in_failures (
  name bytea PRIMARY KEY,
  count integer NOT NULL,
  last_at timestamptz(3) NOT NULL
);
CREATE INDEX sign_in_failures_due ON sign_in_failures (last_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON user_passwords, portal_sessions, user_links, sign_in_failures TO strongroom_people;

-- Which tenants a session came to: its first act there has an entry in the log.
CREATE TABLE portal_visits (
  tenant_id uuid NOT NULL,
  session_id uuid NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, session_id)
);
CREATE INDEX portal_visits_due ON portal_visits (expires_at, tenant_id);
ALTER TABLE portal_visits ENABLE ROW LEVEL SECURITY;
ALTER TABLE portal_visits FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON portal_visits TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY due ON portal_visits FOR SELECT TO strongroom_system USING (true);
CREATE POLICY purge ON portal_visits TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON portal_visits FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON portal_visits TO strongroom_app;
GRANT SELECT (tenant_id, expires_at) ON portal_visits TO strongroom_system;
GRANT SELECT, DELETE ON portal_visits TO strongroom_purge;
