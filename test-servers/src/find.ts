import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/sbin'];
const DEBIAN_POSTGRES = '/usr/lib/postgresql';
const OLDEST_POSTGRES = 15;

/** Where a program of this machine is, or undefined. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(isProgram);
}

export interface PostgresPrograms {
  readonly binDir: string;
  readonly major: number;
}

/** The newest PostgreSQL installed from packages that has what standbys need, or undefined. */
export function findPostgres(): PostgresPrograms | undefined {
  return versions()
    .map((major) => ({ major, binDir: join(DEBIAN_POSTGRES, String(major), 'bin') }))
    .filter(({ major }) => major >= OLDEST_POSTGRES)
    .sort((a, b) => b.major - a.major)
    .find(({ binDir }) => ['initdb', 'postgres', 'pg_basebackup'].every((name) => isProgram(join(binDir, name))));
}

/** `chromium-headless-shell` first: it is the same engine without windows, and takes half the processor time. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of an installed browser, or undefined. */
export function findBrowser(): string | undefined {
  return BROWSERS.map(findProgram).find((path) => path !== undefined);
}

/** Ends the reason of a test that is skipped because a program is missing. */
export const NOT_INSTALLED = ' not installed';

/**
 * For the `skip` of a test: false if the program is there, else why the test is skipped. Where every program is required, as
 * in CI, the test runs and fails.
 */
export function unless(program: unknown, title: string): string | false {
  return program === undefined && process.env.TEST_PROGRAMS !== 'required' ? `${title}${NOT_INSTALLED}` : false;
}

function versions(): number[] {
  try {
    return readdirSync(DEBIAN_POSTGRES).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
