import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { DataFolder } from './data-folder.js';
import { errorCode } from './error-code.js';

/** The whole of sun_path on Linux. */
const ABSTRACT_NAME_BYTES = 108;

/** <sys/fcntl.h> of the BSD family, macOS among them: take an exclusive flock while opening. */
const O_EXLOCK = 0x20;

type Release = () => Promise<void>;

/** A lock that ends with this process, however it ends: nothing stale can be left to judge. Undefined: it is taken. */
export function takeKernelLock(folder: DataFolder): Promise<Release | undefined> {
  return process.platform === 'linux' ? bindAbstractName(folder) : openExclusively(folder);
}

/** Binding a name in the abstract socket namespace is atomic, and the folder's inode is the same by whatever path. */
async function bindAbstractName(folder: DataFolder): Promise<Release | undefined> {
  const { dev, ino } = await stat(folder.root, { bigint: true });
  // Some releases of Node pad the name with zero bytes and others do not: at full length both bind the same one.
  const path = `\0strongroom-${dev}-${ino}-`.padEnd(ABSTRACT_NAME_BYTES, '.');
  const server = createServer((visitor) => visitor.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (errorCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    // Exclusive: a cluster worker would otherwise share its primary's handle instead of being refused.
    server.listen({ path, exclusive: true }, () =>
      resolve(() => new Promise((closed) => server.close(() => closed()))),
    );
    server.unref();
  });
}

async function openExclusively(folder: DataFolder): Promise<Release | undefined> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK;
  try {
    const file = await open(join(folder.root, 'lock'), flags, 0o600);
    return () => file.close();
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return undefined;
    throw error;
  }
}
