-- The audit log: one partition a calendar month (UTC), so that a retention period drops whole tables.
CREATE TABLE logs (
  tenant_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  id uuid NOT NULL,
  actor_type text,
  actor_id uuid,
  entity_type text NOT NULL CHECK (char_length(entity_type) <= 50),
  entity_id text NOT NULL CHECK (char_length(entity_id) <= 400),
  operation text NOT NULL CHECK (char_length(operation) <= 50),
  message text NOT NULL CHECK (char_length(message) <= 250),
  outcome text NOT NULL CHECK (outcome IN ('success', 'failure', 'denied')),
  source_address text,
  trace_id text,
  PRIMARY KEY (tenant_id, created_at, id)
) PARTITION BY RANGE (created_at);

-- Each index ends in the order of the list, so every filter is one range scan read backwards. A filter by entity_id
-- alone asks the last index once per entity type: that is cheaper than a fourth index on every write.
CREATE INDEX logs_by_entity_type ON logs (tenant_id, entity_type, created_at, id);
CREATE INDEX logs_by_entity ON logs (tenant_id, entity_type, entity_id, created_at, id);

ALTER TABLE logs ENABLE ROW LEVEL SECURITY;
ALTER TABLE logs FORCE ROW LEVEL SECURITY;

CREATE POLICY app_read ON logs FOR SELECT TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY app_append ON logs FOR INSERT TO strongroom_app
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY purge ON logs TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));

-- Append and read, never update or delete: no statement of the service can change history.
GRANT SELECT, INSERT ON logs TO strongroom_app;
GRANT SELECT, DELETE ON logs TO strongroom_purge;

-- Makes the partitions from the month of `first` to `ahead` months later. The owner's right to create tables is lent
-- through this function and through nothing else.
CREATE FUNCTION ensure_log_partitions(first timestamptz, ahead integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
DECLARE
  month_start timestamp := date_trunc('month', first AT TIME ZONE 'UTC');
  month_end timestamp;
  partition_name text;
  made integer := 0;
BEGIN
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
REVOKE ALL ON FUNCTION ensure_log_partitions(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ensure_log_partitions(timestamptz, integer) TO strongroom_system;
