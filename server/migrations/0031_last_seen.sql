-- When a member last acted in the tenant, to the hour. It decides nothing, so no keyed hash is over it.
ALTER TABLE members ADD COLUMN seen_at timestamptz(3);
