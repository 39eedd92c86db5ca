-- People. A user signs in to the Portal and is a member of tenants, with a role in each.
--   strongroom_people  works on users and on what they sign in with, and sees whose member a user is; never logs, tokens or keys
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'strongroom_people') THEN
    BEGIN
      CREATE ROLE strongroom_people NOLOGIN NOINHERIT;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      -- Roles belong to the whole server: another database of ours was quicker.
      NULL;
    WHEN insufficient_privilege THEN
      RAISE EXCEPTION 'this release needs a fourth role. As a superuser run: CREATE ROLE strongroom_people NOLOGIN NOINHERIT; '
        'GRANT strongroom_people TO the login of the service; then run strongroom migrate again';
    END;
  END IF;
END
$$;

-- A user belongs to no tenant. The first owner has no address before the set-up.
ALTER TABLE users
  ADD COLUMN first_name text CHECK (char_length(first_name) BETWEEN 1 AND 200),
  ADD COLUMN last_name text CHECK (char_length(last_name) BETWEEN 1 AND 200),
  ADD COLUMN picture text CHECK (char_length(picture) BETWEEN 1 AND 400),
  -- The address as addresses are compared: two users cannot have the same.
  ADD COLUMN email_key text,
  -- An operator locked the user out.
  ADD COLUMN disabled_at timestamptz(3),
  ADD COLUMN modified_at timestamptz(3);
CREATE UNIQUE INDEX users_by_email ON users (email_key);

-- Whoever works for a tenant makes owners and sees nobody; names and addresses are asked for as strongroom_people.
REVOKE INSERT ON users FROM strongroom_app;
GRANT INSERT (id, created_at) ON users TO strongroom_app;
REVOKE SELECT ON users FROM strongroom_system;
GRANT SELECT (id) ON users TO strongroom_system;
GRANT SELECT, INSERT, UPDATE ON users TO strongroom_people;

-- A user in a tenant. One of them is the owner, whom the tenant's own row names as well.
CREATE TABLE members (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES users (id),
  role text NOT NULL,
  -- Keyed hash over who is what where: a role edited here gives nothing.
  mac bytea NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  modified_by uuid,
  modified_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, user_id)
);
CREATE INDEX members_by_time ON members (tenant_id, created_at, id);
CREATE INDEX members_of_user ON members (user_id, tenant_id);

-- An invitation to become one. The secret of its link is stored as a keyed hash; a new link takes the place of the one before.
-- The index on it is not unique, so that every unique key leads with the tenant.
CREATE TABLE invitations (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  email_key text NOT NULL,
  role text NOT NULL,
  secret_hash bytea NOT NULL,
  mac bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL,
  modified_by uuid,
  modified_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX invitations_by_secret ON invitations (secret_hash);
CREATE INDEX invitations_by_email ON invitations (tenant_id, email_key);
CREATE INDEX invitations_by_time ON invitations (tenant_id, created_at, id);

ALTER TABLE members ENABLE ROW LEVEL SECURITY;
ALTER TABLE members FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON members TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY people ON members FOR SELECT TO strongroom_people USING (true);
CREATE POLICY purge ON members TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON members FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON members TO strongroom_app;
GRANT SELECT (tenant_id, id, user_id, role, mac) ON members TO strongroom_people;
GRANT SELECT, DELETE ON members TO strongroom_purge;

ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON invitations TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
-- Whose a secret is, and nothing of what the invitation says.
CREATE POLICY people ON invitations FOR SELECT TO strongroom_people USING (true);
CREATE POLICY purge ON invitations TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON invitations FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON invitations TO strongroom_app;
GRANT SELECT (tenant_id, id, secret_hash) ON invitations TO strongroom_people;
GRANT SELECT, DELETE ON invitations TO strongroom_purge;

CREATE POLICY people ON tenants FOR SELECT TO strongroom_people USING (true);
GRANT SELECT (id, name, owner_id, deleted_at) ON tenants TO strongroom_people;
