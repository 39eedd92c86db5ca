import { chown, readFile } from 'node:fs/promises';

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL and PgBouncer refuse to run as root: root lends them an account without rights. Others run them as they are. */
export async function unprivileged(): Promise<Ids | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const entry = ['postgres', 'nobody'].map((name) => entries.find(([found]) => found === name)).find(Boolean);
  if (!entry) throw new Error('there is no account named postgres or nobody to run a server under');
  return { uid: Number(entry[2]), gid: Number(entry[3]) };
}

export async function give(path: string, ids: Ids | undefined): Promise<void> {
  if (ids) await chown(path, ids.uid, ids.gid);
}
