-- Row-level security is forced, so an owner that is no superuser sees no row of a tenant. A backup has to see them all:
-- the owner may look, and only in a transaction that says it is one, so that a login which owns the tables by mistake
-- still sees nothing. A table of tenant data that comes later needs this policy too.
DO $$
DECLARE
  table_name text;
BEGIN
  FOR table_name IN
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relforcerowsecurity ORDER BY relname
  LOOP
    EXECUTE format('CREATE POLICY backup ON %I FOR SELECT TO CURRENT_USER
      USING ((SELECT current_setting(''strongroom.backup'', true)) = ''on'')', table_name);
  END LOOP;
END
$$;

-- Drops the oldest month of the log that ended before `keep_from`, and tells which and how large it was. One a call: the
-- lock on the log is then held for one table's worth of catalogue rows, and never waited for longer than half a second,
-- because everybody who comes after waits too. The database's own clock has the last word on what is past: a process
-- whose clock runs ahead drops nothing. Only what ensure_log_partitions made is dropped, told by name and bounds.
CREATE FUNCTION drop_log_partitions(keep_from date) RETURNS TABLE (dropped text, bytes bigint)
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public SET timezone = 'UTC' SET datestyle = 'ISO' SET lock_timeout = '500ms'
  AS $$
BEGIN
  IF keep_from IS NULL OR keep_from <> date_trunc('month', keep_from)::date
     OR keep_from >= date_trunc('month', now())::date THEN
    RAISE EXCEPTION 'the first month to keep must be the first day of a month before the current one'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT c.relname, pg_total_relation_size(c.oid) INTO dropped, bytes
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (
      SELECT to_date(substring(c.relname FROM '^logs_([0-9]{4}_(?:0[1-9]|1[0-2]))$'), 'YYYY_MM') AS first_day) AS month
    WHERE i.inhparent = 'public.logs'::regclass AND month.first_day < keep_from
      AND pg_get_expr(c.relpartbound, c.oid) = format('FOR VALUES FROM (%L) TO (%L)',
        month.first_day::timestamptz, (month.first_day + interval '1 month')::timestamptz)
    ORDER BY month.first_day LIMIT 1;
  IF FOUND THEN
    EXECUTE format('DROP TABLE public.%I', dropped);
    RETURN NEXT;
  END IF;
END
$$;
REVOKE ALL ON FUNCTION drop_log_partitions(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_log_partitions(date) TO strongroom_purge;
