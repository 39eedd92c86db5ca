import pg from 'pg';
import { median, printTable } from './report.js';

export interface LogGrowthOptions {
  readonly port: number;
  readonly socketDir: string;
  readonly small: LogTenant;
  readonly large: LogTenant;
  readonly rowsSmall: number;
  readonly rowsLarge: number;
  readonly samples: number;
}

export interface LogTenant {
  readonly id: string;
  readonly key: string;
}

const MONTHS = 6;
const PAGE_SIZE = 10;
const PAGE_DEEP = 400;
/** Half of the rows are about one application, so that page 400 exists under every filter also among few rows. */
const BUSY_ENTITY = '11111111-1111-4111-8111-111111111111';

/** A page of the log among few rows and among many, for every filter, at the start and deep in. */
export async function measureLogGrowth(options: LogGrowthOptions): Promise<void> {
  const client = new pg.Client({ host: options.socketDir, user: 'strongroom_owner', database: 'strongroom' });
  // An error on the connection is the error of the statement under way, which is awaited.
  client.on('error', () => {});
  await client.connect();
  const span = await makePartitions(client);
  await seed(client, options.small.id, options.rowsSmall, span);
  await seed(client, options.large.id, options.rowsLarge, span);
  await client.query('ANALYZE logs');
  await client.query('CHECKPOINT');
  await client.end();

  const rows: string[][] = [];
  for (const [name, filter] of filtersFor(span)) {
    for (const page of [1, PAGE_DEEP]) {
      const small = await pathOf(options.port, options.small.key, filter, page);
      const large = await pathOf(options.port, options.large.key, filter, page);
      const smallMs: number[] = [];
      const largeMs: number[] = [];
      // Turn by turn, so that whatever else the machine does falls on both.
      for (let sample = 0; sample < options.samples; sample += 1) {
        smallMs.push(await timed(options.port, options.small.key, small));
        largeMs.push(await timed(options.port, options.large.key, large));
      }
      const ratio = median(largeMs) / median(smallMs);
      rows.push([name, String(page), median(smallMs).toFixed(2), median(largeMs).toFixed(2), ratio.toFixed(2), '1.30']);
    }
  }
  printTable(
    `GET /logs, ${PAGE_SIZE} rows a page, among ${options.rowsSmall} and ${options.rowsLarge} rows of a tenant over ${MONTHS} months`,
    ['filter', 'page', `ms at ${options.rowsSmall}`, `ms at ${options.rowsLarge}`, 'ratio', 'goal'],
    rows,
  );
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

async function makePartitions(client: pg.Client): Promise<Span> {
  const now = new Date();
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS, 1));
  await client.query('SELECT ensure_log_partitions($1, $2)', [start, MONTHS]);
  return { startMs: start.getTime(), endMs: now.getTime() };
}

async function seed(client: pg.Client, tenantId: string, rows: number, span: Span): Promise<void> {
  await client.query(
    `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome)
     SELECT $1::uuid, to_timestamp(($3::float8 + ($4::float8 - $3::float8) * n / $2::bigint) / 1000.0), gen_random_uuid(), 'application', $5::uuid,
            CASE WHEN n % 2 = 0 THEN 'application' ELSE 'card' END,
            CASE WHEN n % 2 = 0 THEN $6::text ELSE gen_random_uuid()::text END, 'read', 'Token retrieved', 'success'
     FROM generate_series(1::bigint, $2::bigint) AS n`,
    [tenantId, rows, span.startMs, span.endMs, tenantId, BUSY_ENTITY],
  );
}

function filtersFor(span: Span): [string, string][] {
  const third = (span.endMs - span.startMs) / 3;
  const early = encodeURIComponent(new Date(span.startMs + third / 10).toISOString());
  const late = encodeURIComponent(new Date(span.endMs - third / 10).toISOString());
  return [
    ['none', ''],
    ['entity_type', 'entity_type=application'],
    ['entity_id', `entity_id=${BUSY_ENTITY}`],
    ['entity_type + entity_id', `entity_type=application&entity_id=${BUSY_ENTITY}`],
    ['start_date', `start_date=${early}`],
    ['end_date', `end_date=${late}`],
    ['start_date + end_date', `start_date=${early}&end_date=${late}`],
    ['all four', `entity_type=application&entity_id=${BUSY_ENTITY}&start_date=${early}&end_date=${late}`],
  ];
}

/** The path of a page, reached by following cursors in large steps and then in a last one of the page's own size. */
async function pathOf(port: number, key: string, filter: string, page: number): Promise<string> {
  const base = `/logs?size=${PAGE_SIZE}${filter === '' ? '' : `&${filter}`}`;
  let before = (page - 1) * PAGE_SIZE;
  let start = '';
  while (before > 0) {
    const step = Math.min(before, 1_000);
    const path = `/logs?size=${step}${filter === '' ? '' : `&${filter}`}${start}`;
    const answer: { pagination: { after?: string } } = JSON.parse(await get(port, key, path));
    if (answer.pagination.after === undefined) throw new Error(`page ${page} does not exist under ${filter}`);
    start = `&start=${answer.pagination.after}`;
    before -= step;
  }
  return `${base}${start}`;
}

async function timed(port: number, key: string, path: string): Promise<number> {
  const startedMs = performance.now();
  await get(port, key, path);
  return performance.now() - startedMs;
}

async function get(port: number, key: string, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'SVC-API-KEY': key } });
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`);
  return response.text();
}
