import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Secret } from '../kernel/secret.js';

const FILE_BYTES_MAX = 4_096;
const ANY_ACCESS_OF_OTHERS = 0o077;

export interface SmallSecretFile {
  /** Without the line end that editors put there. */
  readonly text: Secret<string>;
  /** Someone else than the owner may read or replace it. */
  readonly isOpenToOthers: boolean;
}

/** Its message goes on from the name of a flag or a setting, and never repeats what is in the file. */
export class SecretFileError extends Error {}

/** A secret from a file: arguments and variables can be read by more than who they are meant for. */
export async function readSmallSecretFile(path: string): Promise<SmallSecretFile> {
  try {
    // Not blocking, because a pipe that nobody writes to would hold up the reader for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Asked of the open file and not of the path, which could lead elsewhere a moment later.
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > FILE_BYTES_MAX) {
        throw new SecretFileError(`must be an ordinary file of at most ${FILE_BYTES_MAX} bytes`);
      }
      const text = new Secret((await handle.readFile('utf8')).replace(/\r?\n$/, ''));
      return { text, isOpenToOthers: (stats.mode & ANY_ACCESS_OF_OTHERS) !== 0 };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    const code = 'code' in error ? String(error.code) : 'unknown fault';
    throw new SecretFileError(`cannot be read (${code})`, { cause: error });
  }
}
