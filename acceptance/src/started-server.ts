import type { ChildProcessByStdio } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { startCitus } from '@strongroom/test-servers/citus.js';
import { placePreparedData } from '@strongroom/test-servers/prepared-data.js';
import type { Keys } from './keys.js';

/** As an operator has it, seen from the root of the repository. */
const PROGRAM = 'server/dist/main.js';
const START_MS = 180_000;

export interface StartedServer {
  readonly baseUrl: string;
  /** A fresh Tenant, by its id. */
  makeTenant(name: string): Promise<string>;
  /** The key of a fresh Application. */
  makeKey(tenant: string, type: string, permissions: readonly string[]): Promise<string>;
  makeKeys(): Promise<Keys>;
  stop(): Promise<void>;
}

const READS = ['tenant:read', 'log:read', 'report:read'];
const MANAGEMENT = [
  ...READS,
  ...['tenant:update', 'tenant:delete'],
  ...['application', 'reactor', 'proxy', 'tenant:invitation'].flatMap((thing) =>
    ['read', 'create', 'update', 'delete'].map((act) => `${thing}:${act}`),
  ),
  ...['read', 'update', 'delete'].map((act) => `tenant:member:${act}`),
];

/** Runs the product on a free port and a data folder of its own, and makes keys the way an operator does. */
export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<StartedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sr-acceptance-'));
  const dataDir = join(folder, 'data');
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  const database = process.env.TEST_DATABASE === 'citus' ? await makeDistributed(inherited) : EMBEDDED;
  const own = { ...database.settings, ...settings, STRONGROOM_DATA_DIR: dataDir, STRONGROOM_PORT: '0' };
  const env = { ...Object.fromEntries(inherited), ...own };
  placePreparedData(own);
  const child = spawn(process.execPath, [PROGRAM, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const baseUrl = await addressOf(child);

  async function run(...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...words], { env });
    return stdout.trim();
  }
  const makeTenant = (name: string): Promise<string> => run('tenant', 'create', '--name', name);
  const makeKey: StartedServer['makeKey'] = (tenant, type, permissions) => {
    const flags = permissions.flatMap((permission) => ['--permission', permission]);
    return run('application', 'create', '--tenant', tenant, '--type', type, ...flags);
  };

  return {
    baseUrl,
    makeTenant,
    makeKey,
    makeKeys: () => makeKeys(makeTenant, makeKey),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
      await database.remove();
    },
  };
}

interface GivenDatabase {
  readonly settings: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

const EMBEDDED: GivenDatabase = { settings: {}, remove: async () => {} };

/** A Citus cluster, prepared as an operator would. */
async function makeDistributed(inherited: readonly (readonly [string, string | undefined])[]): Promise<GivenDatabase> {
  const { coordinator, remove } = await startCitus();
  const settings = {
    STRONGROOM_DATABASE_URL: coordinator.url('service'),
    STRONGROOM_MIGRATION_DATABASE_URL: coordinator.url('owner'),
  };
  const env = { ...Object.fromEntries(inherited), ...settings };
  await promisify(execFile)(process.execPath, [PROGRAM, 'migrate', '--distribute', 'citus'], { env });
  return { settings, remove };
}

/** Where it listens, once it says that it is ready. */
function addressOf(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (): void => reject(new Error(`the server did not start: ${output}`));
    const timer = setTimeout(fail, START_MS);
    child.once('exit', fail);
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const [, address] = /"address":"([^"]+)".*"msg":"ready"/.exec(output) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}

async function makeKeys(makeTenant: StartedServer['makeTenant'], makeKey: StartedServer['makeKey']): Promise<Keys> {
  const [main = '', other = '', doomed = ''] = await Promise.all(['Main', 'Other', 'Doomed'].map(makeTenant));
  const [management, readOnly, unrelated, publicKey, privateKey] = await Promise.all([
    makeKey(main, 'management', MANAGEMENT),
    makeKey(main, 'management', READS),
    makeKey(main, 'management', ['application:read']),
    makeKey(main, 'public', ['token:create']),
    makeKey(main, 'private', ['token:create', 'token:read']),
  ]);
  const [otherTenantManagement, disposableManagement, disposableReadOnly] = await Promise.all([
    makeKey(other, 'management', MANAGEMENT),
    makeKey(doomed, 'management', MANAGEMENT),
    makeKey(doomed, 'management', READS),
  ]);
  return {
    management,
    readOnly,
    unrelated,
    public: publicKey,
    private: privateKey,
    otherTenantManagement,
    disposableManagement,
    disposableReadOnly,
  };
}
