import type { Sample } from './memory.js';
import { runLoad } from './processes.js';
import { median, printTable } from './report.js';
import type { VaultTenant } from './vault-tenant.js';
import { call, card, wire } from './vault-tenant.js';

export interface GrownTenant extends VaultTenant {
  readonly managementKey: string;
}

export interface VaultGrowthOptions {
  readonly port: number;
  readonly small: GrownTenant;
  readonly large: GrownTenant;
  readonly tokensSmall: number;
  readonly tokensLarge: number;
  readonly samples: number;
  readonly memory: Sample;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly isManagement?: true;
}

const BATCH = 100;
const CONNECTIONS = 8;
/** A number only these tokens have, so that a search finds the same few among any number. */
const RARE = '5555555555554444';
const RARE_TOKENS = 20;
const PAGE = 10;

/** Lists, searches and the report among few tokens and among many; then the end of the many. */
export async function measureVaultGrowth(options: VaultGrowthOptions): Promise<void> {
  await fill(options, options.small, options.tokensSmall);
  const startedMs = performance.now();
  await fill(options, options.large, options.tokensLarge);
  const perSecond = options.tokensLarge / ((performance.now() - startedMs) / 1_000);
  process.stdout.write(
    `\nseeded ${options.tokensLarge} tokens through POST /tokenize, ${Math.round(perSecond)} a second\n`,
  );
  const rows: string[][] = [];
  for (const [name, asked] of await asksOf(options)) rows.push([name, ...(await compare(options, asked)), '<= 1.30']);
  printTable(
    `Tokens, ${PAGE} a page, among ${options.tokensSmall} and ${options.tokensLarge} of a tenant`,
    ['request', `ms at ${options.tokensSmall}`, `ms at ${options.tokensLarge}`, 'ratio', 'goal'],
    rows,
  );
  await measureDeletion(options);
}

async function fill({ port, memory }: VaultGrowthOptions, tenant: GrownTenant, count: number): Promise<void> {
  const rare = JSON.stringify(Array.from({ length: RARE_TOKENS }, () => card(RARE)));
  await call(port, tenant.key, 'POST', '/tokenize', rare);
  const body = JSON.stringify(Array.from({ length: BATCH }, () => card()));
  const request = wire('POST', '/tokenize', tenant.key, body);
  let left = count - RARE_TOKENS;
  while (left > 0) {
    const { requests } = await runLoad({
      port,
      requests: [request],
      connections: Math.min(CONNECTIONS, Math.ceil(left / BATCH)),
      seconds: Math.min(5, left / 20_000),
    });
    left -= requests * BATCH;
    await memory.take();
  }
}

async function asksOf(options: VaultGrowthOptions): Promise<[string, (tenant: GrownTenant) => Promise<Asked>][]> {
  const search = JSON.stringify({ query: `data:${RARE}`, size: PAGE });
  const both = JSON.stringify({ query: `data:${RARE} AND type:card AND NOT metadata.a:b`, size: PAGE });
  return [
    ['search by index', async () => ({ method: 'POST', path: '/tokens/search', body: search })],
    ['search by index and more', async () => ({ method: 'POST', path: '/tokens/search', body: both })],
    ['cursor page 50', async (tenant) => ({ method: 'GET', path: await deepPath(options.port, tenant) })],
    ['list page with its total', async () => ({ method: 'GET', path: `/tokens?size=${PAGE}` })],
    ['list by type with its total', async () => ({ method: 'GET', path: `/tokens?size=${PAGE}&type=card` })],
    ['usage report', async () => ({ method: 'GET', path: '/tenants/self/reports/usage', isManagement: true })],
  ];
}

async function deepPath(port: number, { key }: GrownTenant): Promise<string> {
  let start = '';
  for (let page = 0; page < 5; page += 1) {
    const answer: { pagination: { after?: string } } = JSON.parse(
      await call(port, key, 'GET', `/v2/tokens?size=100${start}`),
    );
    start = `&start=${answer.pagination.after}`;
  }
  return `/v2/tokens?size=${PAGE}${start}`;
}

async function compare(options: VaultGrowthOptions, askOf: (tenant: GrownTenant) => Promise<Asked>): Promise<string[]> {
  const [small, large] = [await askOf(options.small), await askOf(options.large)];
  const times: [number[], number[]] = [[], []];
  for (let sample = 0; sample < options.samples; sample += 1) {
    times[0].push(await timed(options.port, options.small, small));
    times[1].push(await timed(options.port, options.large, large));
  }
  const [smallMs, largeMs] = [median(times[0]), median(times[1])];
  return [smallMs.toFixed(2), largeMs.toFixed(2), (largeMs / smallMs).toFixed(2)];
}

async function timed(port: number, tenant: GrownTenant, asked: Asked): Promise<number> {
  const startedMs = performance.now();
  await call(port, asked.isManagement ? tenant.managementKey : tenant.key, asked.method, asked.path, asked.body);
  return performance.now() - startedMs;
}

async function measureDeletion({ port, large, tokensLarge }: VaultGrowthOptions): Promise<void> {
  const page: { data: { id: string }[] } = JSON.parse(await call(port, large.key, 'GET', '/v2/tokens?size=1'));
  const startedMs = performance.now();
  await call(port, large.managementKey, 'DELETE', '/tenants/self');
  const ms = performance.now() - startedMs;
  const after = await fetch(`http://127.0.0.1:${port}/tokens/${page.data[0]?.id}`, {
    headers: { 'SVC-API-KEY': large.key },
  });
  printTable(
    `Deleting a tenant with ${tokensLarge} tokens`,
    ['call ms', 'goal', 'a read right after'],
    [[ms.toFixed(1), '<= 1000', String(after.status)]],
  );
}
