-- Who has proven what.

-- When somebody proved that the address is the user's: by a link that was mailed to it, or by the word of the operator. Null
-- before that. The keyed hash of the address is over it too.
ALTER TABLE users ADD COLUMN email_verified_at timestamptz(3);

-- The tenant that has a mail sent; null for what concerns an account. Tenants may fill a part of the queue alone.
ALTER TABLE mails ADD COLUMN on_behalf_of uuid;
CREATE INDEX mails_on_behalf_of ON mails (on_behalf_of) WHERE on_behalf_of IS NOT NULL;
GRANT SELECT (on_behalf_of) ON mails TO strongroom_app;

-- An account whose invitation was withdrawn while it was made is taken back. Members refer to their users, who therefore stay.
GRANT DELETE ON users TO strongroom_people;

-- Keyed hash over for whom a challenge is and until when; one without it was made by the release before, and is refused.
ALTER TABLE passkey_challenges ADD COLUMN mac bytea;

-- Keyed hash over when a session was last seen: an edited moment revives no session. Sessions without it are over.
ALTER TABLE portal_sessions ADD COLUMN seen_mac bytea;
