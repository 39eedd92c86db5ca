import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCapacity } from './capacity.js';
import { measureHttpRatio } from './http-ratio.js';
import type { LogTenant } from './log-growth.js';
import { measureLogGrowth } from './log-growth.js';
import { sampleMemory } from './memory.js';
import { runCommand, startProduct } from './processes.js';
import { printTable } from './report.js';
import { measureStartTime } from './start-time.js';
import type { GrownTenant } from './vault-growth.js';
import { measureVaultGrowth } from './vault-growth.js';
import { measureVaultRatios } from './vault-ratios.js';
import { measureWriteRatio } from './write-ratio.js';

/** `npm run bench`: everything on a fresh embedded database. `-- --quick` gives rough figures in a minute. */
const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } });
const rounds = values.quick ? 1 : 5;
const seconds = values.quick ? 1 : 4;
const chosen = (part: string): boolean => values.only === undefined || values.only === part;

const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
const socketDir = join(dataDir, 'run');
process.stdout.write(`Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}\n`);
const key = await runCommand(dataDir, 'key', 'generate');
if (chosen('start')) await measureStartTime(key, rounds);
const product = await startProduct({ dataDir, key });
try {
  const { port } = product;
  const self: { id: string } = JSON.parse(
    await (await fetch(`http://127.0.0.1:${port}/tenants/self`, { headers: { 'SVC-API-KEY': key } })).text(),
  );
  if (chosen('http')) await measureHttpRatio({ port, key, rounds, seconds });
  if (chosen('write')) await measureWriteRatio({ port, key, tenantId: self.id, socketDir, rounds, seconds });
  const memory = sampleMemory(product.child.pid ?? 0);
  if (chosen('vault')) {
    await measureVaultRatios({ port, socketDir, tenant: await makeVaultTenant(), rounds, seconds, memory });
  }
  if (chosen('growth')) {
    await measureVaultGrowth({
      port,
      small: await makeVaultTenant(),
      large: await makeVaultTenant(),
      tokensSmall: 1_000,
      tokensLarge: values.quick ? 50_000 : 1_000_000,
      samples: values.quick ? 50 : 300,
      memory,
    });
  }
  if (chosen('vault') || chosen('growth')) {
    const { seen, peak } = memory.most();
    printTable('Memory of the API process', ['most seen MB', 'peak MB', 'goal'], [[`${seen}`, `${peak}`, '< 250']]);
  }
  if (chosen('capacity')) {
    const tenant = await makeVaultTenant();
    await measureCapacity({ port, socketDir, tenant, tokens: values.quick ? 5_000 : 50_000, seconds });
  }
  if (chosen('logs')) {
    await measureLogGrowth({
      port,
      socketDir,
      small: await makeLogTenant(),
      large: await makeLogTenant(),
      rowsSmall: 10_000,
      rowsLarge: values.quick ? 100_000 : 1_000_000,
      samples: values.quick ? 50 : 300,
    });
  }
} finally {
  await product.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function makeVaultTenant(): Promise<GrownTenant> {
  const { id, key: managementKey } = await makeTenant('management', ['tenant:delete', 'report:read']);
  const permissions = ['create', 'read', 'search', 'update', 'delete'].map((act) => `token:${act}`);
  return { id, key: await makeApplication(id, 'private', permissions), managementKey };
}

function makeLogTenant(): Promise<LogTenant> {
  return makeTenant('management', ['log:read']);
}

async function makeTenant(type: string, permissions: readonly string[]): Promise<LogTenant> {
  const id = await runCommand(dataDir, 'tenant', 'create', '--name', 'Benchmark');
  return { id, key: await makeApplication(id, type, permissions) };
}

async function makeApplication(tenantId: string, type: string, permissions: readonly string[]): Promise<string> {
  const words = ['application', 'create', '--tenant', tenantId, '--type', type, '--json'];
  const made: { key: string } = JSON.parse(
    await runCommand(dataDir, ...words, ...permissions.flatMap((name) => ['--permission', name])),
  );
  return made.key;
}
