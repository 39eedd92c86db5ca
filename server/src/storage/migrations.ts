import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { PACKAGE_FOLDER } from '../kernel/package-folder.js';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const MIGRATIONS_FOLDER = new URL('migrations/', PACKAGE_FOLDER);
const FILE_NAME = /^(\d{4})_([a-z_]+)\.sql$/;

/** The shipped migrations in order. Their numbers run from 1 without a gap. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(MIGRATIONS_FOLDER)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const match = FILE_NAME.exec(file);
      if (!match?.[1] || !match[2] || Number(match[1]) !== index + 1) {
        throw new Error(`migration ${file} is misnamed or out of order`);
      }
      const sql = await readFile(new URL(file, MIGRATIONS_FOLDER), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { version: index + 1, name: match[2], sql, checksum };
    }),
  );
}
