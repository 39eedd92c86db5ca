import type pg from 'pg';
import { statement } from '../storage/statement.js';

/** A table behind the same walls as the product's own, for tests of how transactions behave. */
export async function makeNotesTable(owner: pg.Client): Promise<void> {
  await owner.query(`
    CREATE TABLE notes (
      tenant_id uuid NOT NULL, id text NOT NULL, PRIMARY KEY (tenant_id, id),
      pair text, CONSTRAINT notes_pair_once UNIQUE (pair) DEFERRABLE INITIALLY DEFERRED);
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    ALTER TABLE notes FORCE ROW LEVEL SECURITY;
    CREATE POLICY app ON notes TO strongroom_app
      USING (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]))
      WITH CHECK (tenant_id = ANY ((SELECT strongroom_scope())::uuid[]));
    GRANT SELECT, INSERT, UPDATE ON notes TO strongroom_app`);
}

export const INSERT_NOTE = statement<never>('insert_note', 'INSERT INTO notes (tenant_id, id) VALUES ($1, $2)');

/** Two notes of one pair collide only at the end of the transaction. */
export const INSERT_PAIRED_NOTE = statement<never>(
  'insert_paired_note',
  'INSERT INTO notes (tenant_id, id, pair) VALUES ($1, $2, $3)',
);

/** Names no tenant: what it finds is what the walls let through. */
export const LIST_NOTES = statement<{ tenant_id: string; id: string }>(
  'list_notes',
  'SELECT tenant_id, id FROM notes ORDER BY tenant_id, id LIMIT 10000',
);

/** What really is stored, as the owner sees it. */
export async function storedNotes(owner: pg.Client): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>('SELECT id FROM notes ORDER BY id');
  return rows.map(({ id }) => id);
}
