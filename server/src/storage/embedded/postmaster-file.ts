import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifPresent } from './error-code.js';

/** What a running server says of itself in `postmaster.pid`; after a crash, what the last one said. */
export interface PostmasterFile {
  readonly pid: number;
  /** The cluster it works on, as it was called with. */
  readonly cluster: string;
  readonly port: number;
  readonly socketDir: string;
  /** `starting`, `ready`, `stopping`, or empty while the file is being written. */
  readonly status: string;
}

export function postmasterFilePath(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}

export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await ifPresent(readFile(postmasterFilePath(cluster), 'utf8'));
  if (text === undefined) return undefined;
  const [pid = '', ownCluster = '', , port = '', socketDir = '', , , status = ''] = text.split('\n');
  // A single-user server writes its process id as a negative number.
  const id = Math.abs(Number.parseInt(pid, 10));
  return Number.isSafeInteger(id) && id > 0
    ? { pid: id, cluster: ownCluster, port: Number.parseInt(port, 10), socketDir, status: status.trim() }
    : undefined;
}
