-- Every unique key of tenant data leads with the tenant, so that the tables can be spread over servers by it. The hash is
-- looked for before the tenant is known: that takes an index, not a unique one. Hashes are 256 bits of random keys, so
-- there is nothing for a constraint across tenants to find.
ALTER TABLE api_keys DROP CONSTRAINT api_keys_pkey;
ALTER TABLE api_keys ADD PRIMARY KEY (tenant_id, hash);
CREATE INDEX api_keys_by_hash ON api_keys (hash);
