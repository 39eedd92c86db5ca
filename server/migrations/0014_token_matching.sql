-- A token stands for another one only where both are seen by the same rules and compared by the same expression: same
-- containers, mask, end and fingerprint expression. Type and containers are in group_id and the end in expires_at; of the
-- sealed mask and expression this is a keyed hash, empty for the type's own.
-- Tokens from before have none: whoever is led to one opens it and compares.
ALTER TABLE tokens ADD COLUMN match_digest bytea;

-- Where a fingerprint is claimed: containers, mask and end as one fixed-size name. Claims from before are in no such place and
-- are not looked at; the tokens themselves are.
ALTER TABLE token_claims ADD COLUMN scope uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
ALTER TABLE token_claims DROP CONSTRAINT token_claims_pkey;
ALTER TABLE token_claims ADD PRIMARY KEY (tenant_id, type, fingerprint, scope);

-- For processes of the release before, which go on while this one is rolled out. They know one place to claim in, the default.
CREATE OR REPLACE FUNCTION claim_fingerprint(
  for_tenant uuid, for_type text, for_fingerprint bytea, new_token text, at timestamptz
) RETURNS text
  LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
  AS $$
DECLARE
  default_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  holder text;
  is_own boolean;
BEGIN
  LOOP
    INSERT INTO token_claims (tenant_id, type, fingerprint, scope, token_id)
      VALUES (for_tenant, for_type, for_fingerprint, default_scope, new_token) ON CONFLICT DO NOTHING;
    EXIT WHEN FOUND;
    SELECT c.token_id, c.xmin::text = pg_current_xact_id()::xid::text INTO holder, is_own
      FROM token_claims c
      WHERE c.tenant_id = for_tenant AND c.type = for_type AND c.fingerprint = for_fingerprint AND c.scope = default_scope
      FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    IF is_own THEN
      RETURN holder;
    END IF;
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
    WHERE c.tenant_id = for_tenant AND c.type = for_type AND c.fingerprint = for_fingerprint AND c.scope = default_scope;
  RETURN holder;
END
$$;

-- Says which token stands for a fingerprint in a scope: the one given, or one that was there before. Whoever comes second
-- waits for the first to commit. A claim made in this very transaction holds although its token is not written yet.
-- is_sure is false for a token whose mask and expression are not known here.
CREATE FUNCTION claim_fingerprint(
  for_tenant uuid, for_type text, for_fingerprint bytea, for_scope uuid, for_group uuid, for_mask bytea,
  for_expiry timestamptz, new_token text, at timestamptz, OUT holder text, OUT is_sure boolean
)
  LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
  AS $$
DECLARE
  is_own boolean;
BEGIN
  LOOP
    INSERT INTO token_claims (tenant_id, type, fingerprint, scope, token_id)
      VALUES (for_tenant, for_type, for_fingerprint, for_scope, new_token) ON CONFLICT DO NOTHING;
    EXIT WHEN FOUND;
    SELECT c.token_id, c.xmin::text = pg_current_xact_id()::xid::text INTO holder, is_own
      FROM token_claims c
      WHERE c.tenant_id = for_tenant AND c.type = for_type AND c.fingerprint = for_fingerprint AND c.scope = for_scope
      FOR UPDATE;
    -- Given up in between: try again to be first.
    CONTINUE WHEN NOT FOUND;
    IF is_own THEN
      is_sure := NOT EXISTS (SELECT FROM tokens t WHERE t.tenant_id = for_tenant AND t.id = holder AND t.match_digest IS NULL);
      RETURN;
    END IF;
    -- A range of one id, in order, so that only the primary key will do.
    SELECT t.match_digest IS NOT NULL INTO is_sure FROM tokens t
      WHERE t.tenant_id = for_tenant AND t.id >= holder AND t.id <= holder
        AND t.fingerprint = for_fingerprint AND t.group_id = for_group
        AND (t.match_digest IS NULL OR t.match_digest = for_mask) AND t.expires_at IS NOT DISTINCT FROM for_expiry
        AND (t.expires_at IS NULL OR t.expires_at > at)
      ORDER BY t.id LIMIT 1;
    IF FOUND THEN
      RETURN;
    END IF;
    EXIT;
  END LOOP;
  SELECT t.id, t.match_digest IS NOT NULL INTO holder, is_sure FROM tokens t
    WHERE t.tenant_id = for_tenant AND t.fingerprint >= for_fingerprint AND t.fingerprint <= for_fingerprint
      AND t.group_id = for_group AND (t.match_digest IS NULL OR t.match_digest = for_mask)
      AND t.expires_at IS NOT DISTINCT FROM for_expiry AND (t.expires_at IS NULL OR t.expires_at > at)
    ORDER BY t.fingerprint, t.created_at, t.tie LIMIT 1;
  IF NOT FOUND THEN
    holder := new_token;
    is_sure := true;
  END IF;
  UPDATE token_claims c SET token_id = holder
    WHERE c.tenant_id = for_tenant AND c.type = for_type AND c.fingerprint = for_fingerprint AND c.scope = for_scope;
END
$$;
