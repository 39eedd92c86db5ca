import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '@strongroom/test-servers/find.js';
import { runProgram } from '@strongroom/test-servers/programs.js';

/** A file system of its own in a file, which can be filled up and cut off. */
export interface Disk {
  /** Where it is mounted. Belongs to root; the caller makes folders in it. */
  readonly mountPoint: string;
  /**
   * As if the power went: what was not written to the device yet is lost, and nothing can be written any more. Then
   * `mend` mounts what is left, as a machine does that starts again. Nobody may use it in between.
   */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Everything written so far is on the device. */
  flush(): Promise<void>;
  /** Fills it with a file of nothing; `free` removes that. */
  fill(): Promise<void>;
  free(): Promise<void>;
  remove(): Promise<void>;
}

const PROGRAMS = ['losetup', 'mkfs.ext4', 'mount', 'umount', 'perl', 'truncate', 'dd', 'sync'] as const;
/** FS_IOC_SHUTDOWN of Linux, with the flag to leave even the journal as it is. */
const SHUTDOWN = `open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die $!;`;

/** Why there can be no such disk on this machine; undefined where there can. */
export function whyNoDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  const missing = PROGRAMS.filter((name) => findProgram(name) === undefined);
  if (missing.length > 0) return missing.join(', ');
  try {
    execFileSync(program('losetup'), ['-f'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'loop device';
  }
}

export async function makeDisk(megabytes: number): Promise<Disk> {
  const folder = mkdtempSync('/tmp/sr-disk-');
  // PostgreSQL does not run as root and has to pass.
  chmodSync(folder, 0o755);
  const image = join(folder, 'image');
  const mountPoint = join(folder, 'mount');
  const ballast = join(mountPoint, 'ballast');
  const run = (name: Program, ...args: string[]): Promise<void> => runProgram(program(name), args);
  // Also for a run that is interrupted: a mount would outlive it. With it goes its loop device.
  const abandon = (): void => {
    try {
      execFileSync(program('umount'), ['-l', mountPoint], { stdio: 'ignore' });
    } catch {
      // It was not mounted.
    }
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', abandon);
  const disk: Disk = {
    mountPoint,
    cut: () => run('perl', '-e', SHUTDOWN, mountPoint),
    async mend() {
      await run('umount', mountPoint);
      await run('mount', '-o', 'loop', image, mountPoint);
    },
    flush: () => run('sync', '-f', mountPoint),
    async fill() {
      // It ends with an error when nothing is left, which is what is wanted.
      await run('dd', 'if=/dev/zero', `of=${ballast}`, 'bs=64k', 'oflag=append', 'conv=notrunc').catch(() => {});
    },
    free: async () => rmSync(ballast, { force: true }),
    async remove() {
      process.removeListener('exit', abandon);
      abandon();
    },
  };
  try {
    await mkdir(mountPoint);
    await run('truncate', '-s', `${megabytes}M`, image);
    await run('mkfs.ext4', '-q', '-m', '0', image);
    await run('mount', '-o', 'loop', image, mountPoint);
    return disk;
  } catch (error) {
    await disk.remove();
    throw error;
  }
}

type Program = (typeof PROGRAMS)[number];

function program(name: Program): string {
  return findProgram(name) ?? name;
}
