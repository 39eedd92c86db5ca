-- Ways back in: links by mail, changes of an address, and the browsers that a user is known by.

-- Keyed hash over whose address this is. Links that open an account go to it, so one edited here is sent nothing.
ALTER TABLE users ADD COLUMN email_mac bytea;

-- A change of an address that is not confirmed yet, at most one of a user. Each side has a link of its own.
CREATE TABLE email_changes (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  email text NOT NULL,
  -- What the user had when it asked; null where it had none. The change is dead once it has another.
  old_email text,
  -- Keyed hashes of the secrets in the links; null once that side is confirmed, and where there is no such side.
  old_hash bytea,
  new_hash bytea,
  -- Keyed hash over all of it: a side is not confirmed by an edited row.
  mac bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX email_changes_by_old_hash ON email_changes (old_hash);
CREATE UNIQUE INDEX email_changes_by_new_hash ON email_changes (new_hash);
CREATE INDEX email_changes_due ON email_changes (expires_at);

-- Browsers that a user signed in with. The hash is over the user too, so a row copied to another user knows no browser.
CREATE TABLE user_devices (
  user_id uuid NOT NULL REFERENCES users (id),
  hash bytea NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_id, hash)
);
CREATE INDEX user_devices_by_time ON user_devices (user_id, seen_at);
CREATE INDEX user_devices_due ON user_devices (seen_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON email_changes, user_devices TO strongroom_people;
