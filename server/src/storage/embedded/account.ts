import { stat } from 'node:fs/promises';
import type { DataFolder } from './data-folder.js';
import { type PasswdEntry, readPasswd } from './passwd.js';

/** Under whom the server's programs run. */
export interface Account {
  /** In words, for a message. */
  readonly title: string;
  /** Whose the files of the server are. */
  readonly uid: number;
  readonly gid: number;
  /** To change to at the start, which drops the supplementary groups too. Undefined: stay who we are. */
  readonly ids: { readonly uid: number; readonly gid: number } | undefined;
  /** A command that runs the rest of its arguments. */
  readonly prefix: readonly string[];
}

/** In the order of preference. PostgreSQL refuses to run as root. */
export async function accountsToTry(folder: DataFolder): Promise<Account[]> {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? accountsOfRoot(folder) : [ourselves(uid, process.getgid?.() ?? 0)];
}

function ourselves(uid: number, gid: number): Account {
  return { title: 'this user', uid, gid, ids: undefined, prefix: [] };
}

/**
 * The account that owns the folder comes first, so that root leaves an ordinary user's folder usable by that user. A
 * user namespace comes last: there the server is root without privileges, which can enter a home closed to others, but
 * can read more files than it should.
 */
async function accountsOfRoot(folder: DataFolder): Promise<Account[]> {
  const passwd = await readPasswd();
  const { uid: owner } = await stat(folder.root);
  const own = passwd.find((entry) => entry.uid === owner && entry.uid !== 0);
  const unprivileged = ['postgres', 'nobody'].flatMap(
    (name) => passwd.find((e) => e.name === name && e.uid !== 0) ?? [],
  );
  const chosen = own ?? unprivileged[0];
  const mapped = unprivileged[0];
  return [...(chosen ? [unprivilegedAccount(chosen)] : []), ...(mapped ? [namespacedRoot(mapped)] : [])];
}

function unprivilegedAccount({ name, uid, gid }: PasswdEntry): Account {
  return { title: `account ${name}`, uid, gid, ids: { uid, gid }, prefix: [] };
}

function namespacedRoot({ uid, gid }: PasswdEntry): Account {
  const prefix = ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`];
  return { title: 'user namespace', uid: 0, gid: 0, ids: { uid: 0, gid: 0 }, prefix };
}
