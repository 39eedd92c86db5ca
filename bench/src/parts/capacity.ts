import type pg from 'pg';
import { runLoad } from '../load/run.js';
import { connectOwner } from '../owner.js';
import type { Findings, Table } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, card, wire } from '../requests.js';
import { makeVaultTenant } from '../tenants.js';

const TOKENS = 50_000;
const TOKENS_QUICK = 2_000;
const BATCH = 100;
const CONNECTIONS = 64;
const READ_IDS_MAX = 2_000;
/** The tables a token has rows in, and the log. */
const TABLES = ['tokens', 'token_terms', 'logs'] as const;

/** What a token weighs on disk, and what a request writes and flushes: the figures behind docs/scaling.md. */
export async function measureCapacity(bench: Bench): Promise<Findings> {
  const product = await startProduct(bench.workshop);
  const { key } = await makeVaultTenant(product);
  const client = await connectOwner(product.socketDir);
  try {
    const tokens = bench.plan.isQuick ? TOKENS_QUICK : TOKENS;
    const before = await sizes(client);
    const ids = await fill(product, key, tokens);
    const after = await sizes(client);
    const create = wire('POST', '/tokens', key, JSON.stringify(card()));
    const reads = ids.map((id) => wire('GET', `/tokens/${id}`, key));
    const tables: Table[] = [
      {
        title: `Bytes on disk for a card with a fingerprint and two search indexes, over ${tokens} of them`,
        head: ['table', 'rows', 'indexes', 'together'],
        rows: [...weights(before, after, tokens)],
      },
      {
        title: `What a request writes, ${CONNECTIONS} connections`,
        head: ['request', 'a second', 'WAL bytes', 'commits', 'flushes'],
        rows: [
          await written(client, bench, product, 'create', [create]),
          await written(client, bench, product, 'audited read', reads),
        ],
      },
    ];
    return { ...NOTHING, tables };
  } finally {
    await client.end();
    await product.stop();
  }
}

async function fill({ port }: Product, key: string, tokens: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < tokens; made += BATCH) {
    const body = Array.from({ length: BATCH }, (_, n) => card(numberOf(made + n)));
    const answer: { id: string }[] = JSON.parse(await call(port, key, 'POST', '/tokenize', JSON.stringify(body)));
    if (ids.length < READ_IDS_MAX) ids.push(...answer.map(({ id }) => id));
  }
  return ids;
}

/** A card number of its own for each n, with a right check digit. */
function numberOf(n: number): string {
  const body = String(400_000_000_000_000 + n);
  let sum = 0;
  [...body].reverse().forEach((digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  });
  return `${body}${(10 - (sum % 10)) % 10}`;
}

type Sizes = ReadonlyMap<string, { readonly table: number; readonly indexes: number }>;

async function sizes(client: pg.Client): Promise<Sizes> {
  const { rows } = await client.query<{ name: string; table_bytes: string; index_bytes: string }>(
    `SELECT t.name, sum(pg_table_size(p.part)) AS table_bytes, sum(pg_indexes_size(p.part)) AS index_bytes
     FROM unnest($1::text[]) AS t(name),
          LATERAL (SELECT t.name::regclass UNION SELECT relid FROM pg_partition_tree(t.name::regclass)) AS p(part)
     GROUP BY t.name`,
    [[...TABLES]],
  );
  return new Map(
    rows.map(({ name, table_bytes, index_bytes }) => [
      name,
      { table: Number(table_bytes), indexes: Number(index_bytes) },
    ]),
  );
}

function* weights(before: Sizes, after: Sizes, tokens: number): Generator<string[]> {
  let [tableSum, indexSum] = [0, 0];
  for (const name of TABLES) {
    const table = ((after.get(name)?.table ?? 0) - (before.get(name)?.table ?? 0)) / tokens;
    const indexes = ((after.get(name)?.indexes ?? 0) - (before.get(name)?.indexes ?? 0)) / tokens;
    tableSum += table;
    indexSum += indexes;
    yield [name, ...[table, indexes, table + indexes].map((bytes) => Math.round(bytes).toString())];
  }
  yield ['all', ...[tableSum, indexSum, tableSum + indexSum].map((bytes) => Math.round(bytes).toString())];
}

interface Written {
  readonly bytes: number;
  readonly commits: number;
  readonly flushes: number;
}

/** A flush of the log is what a disk must do before an answer: its count is the IOPS a server needs. */
async function progress(client: pg.Client): Promise<Written> {
  const flushes = `(SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')`;
  const { rows } = await client.query<{ bytes: string; commits: string; flushes: string }>(
    `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes, ${flushes} AS flushes,
            (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits`,
  );
  const [row] = rows;
  return { bytes: Number(row?.bytes), commits: Number(row?.commits), flushes: Number(row?.flushes) };
}

async function written(
  client: pg.Client,
  { workshop, plan }: Bench,
  { port }: Product,
  name: string,
  requests: readonly string[],
): Promise<string[]> {
  const before = await settled(client);
  const result = await runLoad(workshop, { port, requests, connections: CONNECTIONS, seconds: plan.seconds });
  const after = await settled(client);
  const each = (value: (figures: Written) => number): number => (value(after) - value(before)) / result.requests;
  return [
    name,
    Math.round(result.perSecond).toString(),
    Math.round(each(({ bytes }) => bytes)).toString(),
    each(({ commits }) => commits).toFixed(3),
    each(({ flushes }) => flushes).toFixed(3),
  ];
}

/** Servers report their statistics up to a second late. */
async function settled(client: pg.Client): Promise<Written> {
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  return progress(client);
}
