-- A function that runs as its owner must find no name that its caller put there. Where pg_temp is not named it is searched
-- first, for types and tables: a temporary domain named text then runs its caller's code as the owner. Both functions name
-- the schema of every table themselves.
ALTER FUNCTION ensure_log_partitions(timestamptz, integer) SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION drop_log_partitions(date) SET search_path = pg_catalog, pg_temp;

-- The bounds of a partition are written as text and read again: whatever the caller's session says of dates must not count.
-- A month outside of any sensible time is refused: each is a table more that nobody asked for.
CREATE OR REPLACE FUNCTION ensure_log_partitions(first timestamptz, ahead integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO'
  AS $$
DECLARE
  month_start timestamp := date_trunc('month', first AT TIME ZONE 'UTC');
  month_end timestamp;
  partition_name text;
  made integer := 0;
BEGIN
  IF first IS NULL OR ahead IS NULL OR first < '1970-01-01Z' OR first >= '2100-01-01Z' THEN
    RAISE EXCEPTION 'a month of the log must be one of the years 1970 to 2099' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOR step IN 0 .. least(ahead, 24) LOOP
    month_end := month_start + interval '1 month';
    partition_name := 'logs_' || to_char(month_start, 'YYYY_MM');
    IF to_regclass('public.' || partition_name) IS NULL THEN
      PERFORM pg_advisory_xact_lock(hashtext('strongroom.log_partitions'));
      IF to_regclass('public.' || partition_name) IS NULL THEN
        EXECUTE format('CREATE TABLE public.%I PARTITION OF public.logs FOR VALUES FROM (%L) TO (%L)',
          partition_name, month_start AT TIME ZONE 'UTC', month_end AT TIME ZONE 'UTC');
        made := made + 1;
      END IF;
    END IF;
    month_start := month_end;
  END LOOP;
  RETURN made;
END
$$;

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

-- What the purge may remove is told by this mark, so it is made once and for all: whoever could take it away again would
-- erase the log of a tenant that lives.
CREATE FUNCTION refuse_tenant_return() RETURNS trigger
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
  AS $$
BEGIN
  RAISE EXCEPTION 'a deleted tenant stays deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER stays_deleted BEFORE UPDATE OF id, deleted_at ON tenants FOR EACH ROW
  WHEN (old.id <> new.id OR (old.deleted_at IS NOT NULL AND new.deleted_at IS DISTINCT FROM old.deleted_at))
  EXECUTE FUNCTION refuse_tenant_return();
