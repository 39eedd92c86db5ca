import { spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateApiKey } from '../access/api-key.js';
import { generateRootKey } from '../crypto/root-key.js';
import type { CommandSettings, Ended, Served } from './command-runner.js';
import { ending, serveWith, urlOf } from './command-runner.js';
import { createTestDatabase } from './test-database.js';

const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const PROGRAM_MS = 120_000;

/** The product as a process of its own, and a folder in which a reader of a page works. */
export interface PageProduct {
  readonly served: Served;
  /** Of the first management Application. */
  readonly key: string;
  readonly folder: string;
  save(name: string, text: string): Promise<void>;
  /** Runs a program in that folder, with nothing of ours around it. */
  run(env: CommandSettings, program: string, ...words: string[]): Promise<Ended>;
  close(): Promise<void>;
}

export async function startPageProduct(settings: CommandSettings = {}): Promise<PageProduct> {
  const folder = await mkdtemp(join(tmpdir(), 'sr-page-'));
  await symlink(PACKAGES, join(folder, 'node_modules'));
  const db = await createTestDatabase();
  const key = generateApiKey('management').reveal();
  const served = await serveWith({
    STRONGROOM_DATABASE_URL: urlOf(db.target),
    STRONGROOM_ROOT_KEY: generateRootKey().reveal(),
    STRONGROOM_BOOTSTRAP_API_KEY: key,
    ...settings,
  });
  return {
    served,
    key,
    folder,
    save: (name, text) => writeFile(join(folder, name), text),
    run: (env, program, ...words) =>
      ending(spawn(program, words, { cwd: folder, env: surroundings(env), timeout: PROGRAM_MS })),
    async close() {
      await served.stop();
      await db.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A proxy of the machine would be asked for an address on it. */
export function surroundings(env: CommandSettings): CommandSettings {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env };
}
