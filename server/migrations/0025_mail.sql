-- Mail that has to be sent to people. It belongs to no tenant. Recipient, subject and texts are one sealed record: texts hold
-- links that open accounts, and whoever could change a recipient would be sent the link of somebody else.
CREATE TABLE mails (
  id uuid PRIMARY KEY,
  -- When somebody may take it. Whoever did has it until then, by the number of the try.
  due_at timestamptz(3) NOT NULL,
  -- Tries that were begun.
  attempts integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  sealed bytea NOT NULL
);
CREATE INDEX mails_due ON mails (due_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON mails TO strongroom_people;
-- Whoever works for a tenant puts invitations into the queue, and sees nothing of what waits there.
GRANT INSERT, SELECT (id) ON mails TO strongroom_app;
