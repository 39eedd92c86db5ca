-- What users prove beside a password, or in place of one. Only strongroom_people works on it. Secrets are sealed for their user,
-- codes are keyed hashes, keys and identities are under a MAC: a row that was written or moved here opens nothing.

-- The authenticator that shows a user its one-time codes. A new one is pending until it has shown a first code.
CREATE TABLE user_authenticators (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  sealed bytea,
  -- The step of the last code that was used: none up to it works again.
  last_step bigint NOT NULL,
  pending bytea,
  pending_at timestamptz(3),
  created_at timestamptz(3) NOT NULL
);

-- Codes to be written down, each good once in place of an authenticator.
CREATE TABLE user_recovery_codes (
  user_id uuid NOT NULL REFERENCES users (id),
  hash bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_id, hash)
);

CREATE TABLE user_passkeys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  credential_id text NOT NULL,
  public_key bytea NOT NULL,
  -- Of authenticators that count their uses; one that goes back was copied.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  is_synced boolean NOT NULL,
  mac bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  used_at timestamptz(3)
);
CREATE UNIQUE INDEX user_passkeys_by_credential ON user_passkeys (credential_id);
CREATE INDEX user_passkeys_of_user ON user_passkeys (user_id, created_at);

-- What a passkey was asked to sign. Each is good once.
CREATE TABLE passkey_challenges (
  hash bytea PRIMARY KEY,
  -- For which act, and for whom where that is known.
  purpose text NOT NULL,
  user_id uuid,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX passkey_challenges_due ON passkey_challenges (expires_at);

-- For whom an OpenID Connect issuer vouches. The address it names does not count.
CREATE TABLE user_identities (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  issuer text NOT NULL,
  subject text NOT NULL,
  mac bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  used_at timestamptz(3)
);
CREATE UNIQUE INDEX user_identities_by_subject ON user_identities (issuer, subject);
CREATE INDEX user_identities_of_user ON user_identities (user_id, created_at);

GRANT SELECT, INSERT, UPDATE, DELETE
  ON user_authenticators, user_recovery_codes, user_passkeys, passkey_challenges, user_identities TO strongroom_people;

-- The issuer that vouched for whoever signed in; null for every other way.
ALTER TABLE portal_sessions ADD COLUMN issuer text;

-- How members have to sign in.
ALTER TABLE tenants
  ADD COLUMN second_factor_from timestamptz(3),
  ADD COLUMN sign_in_issuer text CHECK (char_length(sign_in_issuer) BETWEEN 1 AND 100);
GRANT SELECT (second_factor_from, sign_in_issuer) ON tenants TO strongroom_people;
