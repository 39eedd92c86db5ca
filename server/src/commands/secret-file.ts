import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { validationFailed } from '../kernel/errors.js';
import { Secret } from '../kernel/secret.js';

const FILE_BYTES_MAX = 4_096;
const ANY_ACCESS_OF_OTHERS = 0o077;

/** A secret from a file: never an argument, which every process on the machine can read. */
export async function readSecretFile(
  flag: string,
  path: string,
  warn: (text: string) => void,
): Promise<Secret<string>> {
  let text: string;
  try {
    // Not blocking, because a pipe that nobody writes to would hold up the command for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > FILE_BYTES_MAX) {
        throw validationFailed({ [flag]: [`must be an ordinary file of at most ${FILE_BYTES_MAX} bytes`] });
      }
      if ((stats.mode & ANY_ACCESS_OF_OTHERS) !== 0) {
        warn(`warning: ${path} can be read by others than its owner; chmod 600 it.`);
      }
      text = await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    const code = 'code' in error ? String(error.code) : 'unknown fault';
    throw validationFailed({ [flag]: [`cannot be read (${code})`] });
  }
  return new Secret(text.replace(/\r?\n$/, ''));
}
