-- Until now no token could be made; a table that holds one was not made by this product.
DO $$
BEGIN
  IF EXISTS (SELECT FROM tokens) OR EXISTS (SELECT FROM token_counts) THEN
    RAISE EXCEPTION 'the table of tokens is not empty';
  END IF;
END
$$;
DROP TABLE tokens;
DROP TABLE token_counts;

-- What finds a token stands beside it in the clear or as a keyed hash; what it says (data, metadata, mask, expressions,
-- containers) is one sealed record.
CREATE TABLE tokens (
  tenant_id uuid NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  -- Type and containers together, as one fixed-size name; token_groups tells what it stands for.
  group_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- Decides between tokens of the same millisecond: the id if it is a UUID, else a digest of it.
  tie uuid NOT NULL,
  created_by uuid,
  modified_by uuid,
  modified_at timestamptz(3),
  expires_at timestamptz(3),
  -- When the verification code has to be gone from the sealed record.
  cvc_expires_at timestamptz(3),
  fingerprint bytea,
  -- Keyed hashes of search indexes and metadata, one behind the other, to find this token's rows in token_terms again.
  terms bytea NOT NULL,
  data_version integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX tokens_by_time ON tokens (tenant_id, created_at, tie);
CREATE INDEX tokens_of_group ON tokens (tenant_id, group_id, created_at, tie);
CREATE INDEX tokens_by_fingerprint ON tokens (tenant_id, fingerprint, created_at, tie) WHERE fingerprint IS NOT NULL;
-- Across tenants, for the sweeper. What is due and not swept yet is little, so one tenant's share is found in it too.
CREATE INDEX tokens_due ON tokens (expires_at, tenant_id) WHERE expires_at IS NOT NULL;
CREATE INDEX tokens_cvc_due ON tokens (cvc_expires_at, tenant_id) WHERE cvc_expires_at IS NOT NULL;

-- One row a search term of a token, in the order of the list, so that a page of matches is one range scan.
CREATE TABLE token_terms (
  tenant_id uuid NOT NULL,
  term bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  tie uuid NOT NULL,
  PRIMARY KEY (tenant_id, term, created_at, tie)
);

-- How many tokens of a type there are in a set of containers. Writers in different lanes add to different slots, so
-- they never wait for each other. Also the directory of groups: a tenant has few.
CREATE TABLE token_groups (
  tenant_id uuid NOT NULL,
  group_id uuid NOT NULL,
  slot smallint NOT NULL,
  type text NOT NULL,
  containers text[] NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, group_id, slot)
);

-- Which token stands for a fingerprint where tokens are deduplicated. The primary key is what makes parallel creates
-- yield one token.
CREATE TABLE token_claims (
  tenant_id uuid NOT NULL,
  type text NOT NULL,
  fingerprint bytea NOT NULL,
  token_id text NOT NULL,
  PRIMARY KEY (tenant_id, type, fingerprint)
);

DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['tokens', 'token_terms', 'token_groups', 'token_claims'] LOOP
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

-- The sweeper asks across tenants who has something due, and sees nothing else of a token.
CREATE POLICY due ON tokens FOR SELECT TO strongroom_system
  USING (expires_at IS NOT NULL OR cvc_expires_at IS NOT NULL);
GRANT SELECT (tenant_id, expires_at, cvc_expires_at) ON tokens TO strongroom_system;

-- Says which token stands for a fingerprint: the one given, or one that was there before. Whoever comes second waits for
-- the first to commit. A claim made in this very transaction holds although its token is not written yet.
CREATE FUNCTION claim_fingerprint(
  for_tenant uuid, for_type text, for_fingerprint bytea, new_token text, at timestamptz
) RETURNS text
  LANGUAGE plpgsql
  AS $$
DECLARE
  holder text;
  is_own boolean;
BEGIN
  LOOP
    INSERT INTO token_claims (tenant_id, type, fingerprint, token_id)
      VALUES (for_tenant, for_type, for_fingerprint, new_token) ON CONFLICT DO NOTHING;
    EXIT WHEN FOUND;
    SELECT c.token_id, c.xmin::text = pg_current_xact_id()::xid::text INTO holder, is_own
      FROM token_claims c
      WHERE c.tenant_id = for_tenant AND c.type = for_type AND c.fingerprint = for_fingerprint FOR UPDATE;
    -- Given up in between: try again to be first.
    CONTINUE WHEN NOT FOUND;
    IF is_own THEN
      RETURN holder;
    END IF;
    -- A range of one id, in order, so that only the primary key will do.
    PERFORM FROM tokens t
      WHERE t.tenant_id = for_tenant AND t.id >= holder AND t.id <= holder
        AND t.fingerprint = for_fingerprint AND (t.expires_at IS NULL OR t.expires_at > at)
      ORDER BY t.id LIMIT 1;
    IF FOUND THEN
      RETURN holder;
    END IF;
    EXIT;
  END LOOP;
  SELECT t.id INTO holder FROM tokens t
    WHERE t.tenant_id = for_tenant AND t.fingerprint >= for_fingerprint AND t.fingerprint <= for_fingerprint
      AND t.type = for_type AND (t.expires_at IS NULL OR t.expires_at > at)
    ORDER BY t.fingerprint, t.created_at, t.tie LIMIT 1;
  holder := coalesce(holder, new_token);
  UPDATE token_claims c SET token_id = holder
    WHERE c.tenant_id = for_tenant AND c.type = for_type AND c.fingerprint = for_fingerprint;
  RETURN holder;
END
$$;
