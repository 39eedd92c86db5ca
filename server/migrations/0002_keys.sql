-- One row: which root key sealed this database, and a constant only that key opens.
CREATE TABLE root_key_check (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  root_key_id text NOT NULL,
  sealed bytea NOT NULL
);

-- Keys of the installation, wrapped by the root key.
CREATE TABLE system_keys (
  name text PRIMARY KEY,
  wrapped bytea NOT NULL
);

GRANT SELECT, INSERT ON root_key_check, system_keys TO strongroom_system;
