-- No foreign key to tenants on these busy tables: each insert would lock the tenant's row. Whatever a write racing with
-- a deletion leaves behind is found by the purge.

-- The part of a token the usage report needs: the newest of each type is one step into the index.
CREATE TABLE tokens (
  tenant_id uuid NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX tokens_newest_of_type ON tokens (tenant_id, type, created_at);

-- How many tokens of a type exist. Writers in different lanes add to different slots, so they never wait for each
-- other; the report sums the slots, whose number is fixed.
CREATE TABLE token_counts (
  tenant_id uuid NOT NULL,
  token_type text NOT NULL,
  slot smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, token_type, slot)
);

-- Which tokens were active in a month (UTC), each once, and how many that makes.
CREATE TABLE active_tokens (
  tenant_id uuid NOT NULL,
  month date NOT NULL,
  token_id text NOT NULL,
  PRIMARY KEY (tenant_id, month, token_id)
);
CREATE TABLE active_token_counts (
  tenant_id uuid NOT NULL,
  month date NOT NULL,
  slot smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, month, slot)
);

DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['tokens', 'token_counts', 'active_tokens', 'active_token_counts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY app ON %I TO strongroom_app
      USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
      WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))', table_name);
    EXECUTE format('CREATE POLICY purge ON %I TO strongroom_purge
      USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[])
        AND EXISTS (SELECT FROM tenants WHERE tenants.id = tenant_id AND deleted_at IS NOT NULL))', table_name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO strongroom_app', table_name);
    EXECUTE format('GRANT SELECT, DELETE ON %I TO strongroom_purge', table_name);
  END LOOP;
END
$$;
