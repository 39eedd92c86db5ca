-- A function that runs as its owner must find no name that its caller put there. Where pg_temp is not named it is searched
-- first, for types and tables: a temporary domain named text then runs its caller's code as the owner. Both functions name
-- the schema of every table themselves.
ALTER FUNCTION ensure_log_partitions(timestamptz, integer) SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION drop_log_partitions(date) SET search_path = pg_catalog, pg_temp;

-- In every policy, so it must stay one that is expanded in place: names with their schema do not hinder that, a search path
-- of its own would.
CREATE OR REPLACE FUNCTION strongroom_scope() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT pg_catalog.string_to_array(
    nullif(pg_catalog.current_setting('strongroom.tenants', true), ''), ',')::pg_catalog.uuid[] $$;

-- A deleted tenant's log stays for a while, and its row with it as a tombstone, because what may be removed is told by that
-- row. purged_at says that everything else is gone, so that nobody looks for it again and again.
ALTER TABLE tenants ADD COLUMN purged_at timestamptz(3);
DROP INDEX tenants_deleted;
CREATE INDEX tenants_to_purge ON tenants (deleted_at, id) WHERE deleted_at IS NOT NULL AND purged_at IS NULL;
CREATE INDEX tenants_purged ON tenants (deleted_at, id) WHERE purged_at IS NOT NULL;
GRANT UPDATE (purged_at) ON tenants TO strongroom_purge;
