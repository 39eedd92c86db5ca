-- For a database whose tables Citus has spread over servers. On any other one nothing here is used, and the directory is empty.

-- Whose a secret is (of an API key, a session, a Proxy, an invitation), by its keyed hash: the question that comes before the
-- tenant is known, and that would otherwise be put to every server. It stays on the coordinator. An entry whose row is gone leads
-- nowhere, because the row is read all the same; it goes with its tenant at the latest.
CREATE TABLE credential_directory (
  tenant_id uuid NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (tenant_id, hash)
);
CREATE INDEX credential_directory_by_hash ON credential_directory (hash);

ALTER TABLE credential_directory ENABLE ROW LEVEL SECURITY;
ALTER TABLE credential_directory FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON credential_directory TO strongroom_app
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
  WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
CREATE POLICY system ON credential_directory FOR SELECT TO strongroom_system USING (true);
CREATE POLICY people ON credential_directory FOR SELECT TO strongroom_people USING (true);
CREATE POLICY purge ON credential_directory TO strongroom_purge
  USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
    AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL));
CREATE POLICY backup ON credential_directory FOR SELECT TO CURRENT_USER
  USING ((SELECT current_setting('strongroom.backup', true)) = 'on');
GRANT SELECT, INSERT, DELETE ON credential_directory TO strongroom_app;
GRANT SELECT ON credential_directory TO strongroom_system, strongroom_people;
GRANT SELECT, DELETE ON credential_directory TO strongroom_purge;

-- The deleted tenants whose rows a purge may remove. A policy on a shard cannot look into the table of tenants, so whoever opens
-- the transaction does, and names them here.
CREATE FUNCTION strongroom_doomed() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT pg_catalog.string_to_array(
    nullif(pg_catalog.current_setting('strongroom.doomed', true), ''), ',')::pg_catalog.uuid[] $$;

-- One claim, in a form in which the whole call travels to the server that has the tenant.
CREATE FUNCTION claim_one_fingerprint(
  for_tenant uuid, for_type text, for_fingerprint bytea, for_scope uuid, for_group uuid, for_mask bytea,
  for_expiry timestamptz, new_token text, at timestamptz
) RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
  AS $$
DECLARE
  claimed record;
BEGIN
  SELECT * INTO claimed
    FROM claim_fingerprint(for_tenant, for_type, for_fingerprint, for_scope, for_group, for_mask, for_expiry, new_token, at);
  RETURN jsonb_build_object('holder', claimed.holder, 'is_sure', claimed.is_sure);
END
$$;

-- Counts tokens as active in a month: those in seen_tokens that were not yet, and so many that were made in it. Travels too.
CREATE FUNCTION add_active_tokens(
  for_tenant uuid, seen_months date[], seen_tokens text[], made_months date[], made_counts bigint[], in_slot integer
) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
  AS $$
DECLARE
  counts jsonb := '{}';
  month_key text;
BEGIN
  FOR at IN 1 .. coalesce(array_length(made_months, 1), 0) LOOP
    month_key := made_months[at]::text;
    counts := jsonb_set(counts, ARRAY[month_key], to_jsonb(coalesce((counts ->> month_key)::bigint, 0) + made_counts[at]));
  END LOOP;
  FOR at IN 1 .. coalesce(array_length(seen_tokens, 1), 0) LOOP
    INSERT INTO active_tokens (tenant_id, month, token_id) VALUES (for_tenant, seen_months[at], seen_tokens[at])
      ON CONFLICT DO NOTHING;
    IF FOUND THEN
      month_key := seen_months[at]::text;
      counts := jsonb_set(counts, ARRAY[month_key], to_jsonb(coalesce((counts ->> month_key)::bigint, 0) + 1));
    END IF;
  END LOOP;
  FOR month_key IN SELECT key FROM jsonb_each_text(counts) ORDER BY key LOOP
    INSERT INTO active_token_counts (tenant_id, month, slot, count)
      VALUES (for_tenant, month_key::date, in_slot, (counts ->> month_key)::bigint)
      ON CONFLICT (tenant_id, month, slot) DO UPDATE SET count = active_token_counts.count + EXCLUDED.count;
  END LOOP;
END
$$;

-- Lets combinations of type and containers in, and counts the version of the directory up where one was new. Travels too.
CREATE FUNCTION let_in_combinations(
  for_tenant uuid, group_ids uuid[], types text[], container_lists text[], by_strangers integer[]
) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
  AS $$
DECLARE
  is_known boolean;
  new_ones integer := 0;
BEGIN
  FOR at IN 1 .. coalesce(array_length(group_ids, 1), 0) LOOP
    SELECT EXISTS (SELECT FROM token_groups g WHERE g.tenant_id = for_tenant AND g.group_id = group_ids[at]) INTO is_known;
    INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count, by_stranger, seen_at)
      VALUES (for_tenant, group_ids[at], -1, types[at], string_to_array(container_lists[at], ','), 0,
        by_strangers[at] = 1 AND NOT is_known, now())
      ON CONFLICT (tenant_id, group_id, slot) DO NOTHING;
    IF FOUND THEN
      new_ones := new_ones + 1;
    ELSE
      UPDATE token_groups g SET seen_at = now() WHERE g.tenant_id = for_tenant AND g.group_id = group_ids[at] AND g.slot = -1;
    END IF;
  END LOOP;
  IF new_ones > 0 THEN
    INSERT INTO token_directories (tenant_id, version) VALUES (for_tenant, 1)
      ON CONFLICT (tenant_id) DO UPDATE SET version = token_directories.version + 1;
  END IF;
END
$$;
