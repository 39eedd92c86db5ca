import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NoWallError } from './no-wall-error.js';
import { SOCKET_PATH } from './wall-steps.js';

/** With the process in its name, so that what a killed one left behind can be told from what is used. */
const NAME = /^strongroom-engines-(\d+)-\w{6}$/;
/** Of the folder of an instance: short, because the path of a unix socket is. */
export const INSTANCE_NAME_LENGTH = 8;
const SOCKET_PATH_MAX = 107;

/** A folder for the instances of this process. Removes those of processes that are gone. */
export async function makeBaseFolder(parent = tmpdir()): Promise<string> {
  await Promise.all((await leftIn(parent)).map((path) => rm(path, { recursive: true, force: true })));
  const base = await mkdtemp(join(parent, `strongroom-engines-${process.pid}-`));
  const longest = join(base, 'x'.repeat(INSTANCE_NAME_LENGTH), SOCKET_PATH);
  if (Buffer.byteLength(longest) <= SOCKET_PATH_MAX) return base;
  await rm(base, { recursive: true });
  throw new NoWallError('the path of the temporary folder is too long for a socket in it: set TMPDIR to a shorter one');
}

async function leftIn(parent: string): Promise<string[]> {
  const left: string[] = [];
  for (const name of await readdir(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const { uid } = await stat(join(parent, name)).catch(() => ({ uid: -1 }));
    if (uid === process.getuid?.()) left.push(join(parent, name));
  }
  return left;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is one too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
