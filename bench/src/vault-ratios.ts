import type { BareVaultOptions } from './bare-vault.js';
import type { Sample } from './memory.js';
import { runLoad, startBareVault } from './processes.js';
import { median, printTable, spread } from './report.js';
import type { VaultTenant } from './vault-tenant.js';
import { call, card, wire } from './vault-tenant.js';

export interface VaultRatioOptions {
  readonly port: number;
  readonly socketDir: string;
  readonly tenant: VaultTenant;
  readonly rounds: number;
  readonly seconds: number;
  readonly memory: Sample;
}

interface Side {
  readonly port: number;
  readonly requests: readonly string[];
}

interface Figures {
  readonly ours: number[];
  readonly floor: number[];
  readonly p99: number[];
}

const CONNECTIONS = 64;
const TOKENIZE_CONNECTIONS = 8;
const TOKENS_TO_READ = 2_000;
const BATCH = 100;
/** About what a sealed card takes. */
const SEALED_BYTES = 420;

/** What the product exists for, each against what the same work costs without it. */
export async function measureVaultRatios(options: VaultRatioOptions): Promise<void> {
  const { tenant } = options;
  const body = JSON.stringify(card());
  const made = await call(options.port, tenant.key, 'POST', '/tokens', body);
  const create = wire('POST', '/tokens', tenant.key, body);
  const many = JSON.stringify(Array.from({ length: BATCH }, () => card()));
  const tokenize = wire('POST', '/tokenize', tenant.key, many);
  const ids = await seed(options, many);
  const reads = ids.map((id) => wire('GET', `/tokens/${id}`, tenant.key, ''));
  const product = (requests: readonly string[]): Side => ({ port: options.port, requests });
  const rows: string[][] = [];

  const against = async (
    name: string,
    mode: BareVaultOptions['mode'],
    requests: readonly string[],
    connections: number,
    goal: string,
    unit = 1,
  ): Promise<Figures> => {
    const bare = await startBareVault({
      mode,
      socketDir: options.socketDir,
      tenantId: tenant.id,
      answer: made,
      sealedBytes: SEALED_BYTES,
    });
    try {
      const figures = await sideBySide(options, product(requests), { port: bare.port, requests }, connections);
      rows.push(rowOf(name, figures, unit, goal));
      return figures;
    } finally {
      await bare.stop();
    }
  };

  const creates = await against('create a card: rows in own transaction', 'create', [create], CONNECTIONS, '>= 2');
  await against('create a card: HTTP ceiling', 'answer', [create], CONNECTIONS, '>= 0.4');
  await against('read a card: unaudited point read', 'read', reads, CONNECTIONS, '>= 0.6');
  const batches = await against(
    'tokenize 100: batches by the driver',
    'batch',
    [tokenize],
    TOKENIZE_CONNECTIONS,
    '>= 0.5',
    BATCH,
  );
  const gains = batches.ours.map((value, n) => (value * BATCH) / (creates.ours[n] ?? value));
  rows.push(['tokenize 100: single creates', '', '', '', spread(gains, 2), '-']);
  printTable(
    `The vault, ${CONNECTIONS} connections (tokenize ${TOKENIZE_CONNECTIONS}), tokens a second`,
    ['path: floor', 'floor/s', 'product/s', 'p99 ms', 'ratio', 'goal'],
    rows,
  );
}

/** Turn by turn, so that whatever else the machine does falls on both. The first round only warms up. */
async function sideBySide(options: VaultRatioOptions, ours: Side, floor: Side, connections: number): Promise<Figures> {
  const figures: Figures = { ours: [], floor: [], p99: [] };
  for (let round = 0; round <= options.rounds; round += 1) {
    const below = await runLoad({ ...floor, connections, seconds: options.seconds });
    const above = await runLoad({ ...ours, connections, seconds: options.seconds });
    await options.memory.take();
    if (round === 0) continue;
    figures.floor.push(below.perSecond);
    figures.ours.push(above.perSecond);
    figures.p99.push(above.p99Ms);
  }
  return figures;
}

function rowOf(name: string, { ours, floor, p99 }: Figures, unit: number, goal: string): string[] {
  const ratios = ours.map((value, n) => value / (floor[n] ?? value));
  const shown = (values: readonly number[]): string => Math.round(median(values) * unit).toString();
  return [name, shown(floor), shown(ours), median(p99).toFixed(1), spread(ratios, 2), goal];
}

async function seed(options: VaultRatioOptions, many: string): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < TOKENS_TO_READ) {
    const made: { id: string }[] = JSON.parse(await call(options.port, options.tenant.key, 'POST', '/tokenize', many));
    ids.push(...made.map(({ id }) => id));
  }
  return ids;
}
