-- Three roles without a login. The process signs in as a role that inherits nothing and takes on one of these for
-- each transaction, so a statement that runs outside a scope can see no row at all.
--   strongroom_app     works on the rows of the tenants in its scope
--   strongroom_system  looks across tenants, at identities alone: never at logs, tokens or their keys' use
--   strongroom_purge   removes what deleted tenants left behind, and nothing else
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['strongroom_app', 'strongroom_system', 'strongroom_purge'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT', role_name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        -- Roles belong to the whole server: another database of ours was quicker.
        NULL;
      END;
    END IF;
  END LOOP;
END
$$;

-- The tenants a transaction may touch: a comma-separated list set locally. Not set means none.
CREATE FUNCTION strongroom_scope() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT string_to_array(nullif(current_setting('strongroom.tenants', true), ''), ',')::uuid[] $$;
