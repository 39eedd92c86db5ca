-- When a key was last used, to the hour; null before its first use. Told to whoever may read the Application, and granting
-- nothing, so the keyed hash of the row does not cover it.
ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz(3);
