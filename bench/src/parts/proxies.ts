import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import type { Round, Side } from '../alternate.js';
import { alternate } from '../alternate.js';
import type { Bound } from '../goals.js';
import { boundText, goalOf } from '../goals.js';
import { runLoad } from '../load/run.js';
import type { Findings, Goal } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, wire } from '../requests.js';
import { firstLine, scriptPath } from '../scripts.js';
import { spread } from '../statistics.js';
import { makeReactorTenant } from '../tenants.js';

const FORWARDED: Bound = { least: 0.5 };
const DOWNLOAD: Bound = { most: 1.3 };
const GROWTH_MB: Bound = { most: 20 };
const TRANSFORM_ADDED_MS: Bound = { most: 3 };
const CONNECTIONS = 64;
const LARGE = 100 * 1_048_576;
const CARD = '4242424242424242';
const TRANSFORM =
  'module.exports = async ({ args }) => ({ body: { ...args.body, seen: true }, headers: args.headers });';

interface Row {
  readonly what: string;
  readonly values: readonly number[];
  readonly unit: string;
  readonly bound?: Bound;
}

/** A request to another company through the product, and through a proxy that only forwards. */
export async function measureProxies(bench: Bench): Promise<Findings> {
  const places = await openPlaces(bench);
  const rows = [
    ...(await measureForwarded(bench, places)),
    ...(await measureTransform(bench, places)),
    ...(await measureLarge(bench, places)),
  ];
  await places.product.stop();
  for (const { what, values, unit } of rows) bench.say(`${what}: ${spread(values, 2)} ${unit}`);
  return {
    ...NOTHING,
    tables: [
      {
        title: 'Proxies: a request of 1 KB with one token to a server over TLS, and 100 MB each way',
        head: ['what', 'measured', 'unit', 'goal'],
        rows: rows.map(({ what, values, unit, bound }) => [what, spread(values, 2), unit, boundText(bound)]),
      },
    ],
    goals: rows.flatMap(({ what, values, bound }): Goal[] =>
      bound ? [goalOf(`Proxies: ${what}`, values, bound)] : [],
    ),
  };
}

/** The product, the bare proxy and the destination that both forward to. */
interface Places {
  readonly product: Product;
  readonly key: string;
  readonly managementKey: string;
  readonly card: string;
  readonly bare: { readonly port: number; readonly pid: number };
  /** Of the destination. */
  readonly port: number;
}

async function openPlaces({ workshop }: Bench): Promise<Places> {
  const folder = await workshop.folder();
  const certificates = certificatesIn(folder);
  await certificates.makeAuthority('authority');
  await certificates.makeCertificate('server', 'authority', 'x', 'IP:127.0.0.1,DNS:localhost');
  const start = async (name: string, ...args: string[]) => {
    const { child } = workshop.spawn([scriptPath(`baselines/${name}`), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return { port: Number(await firstLine(child, /^(\d+)$/)), pid: child.pid ?? 0 };
  };
  const { port } = await start('destination', folder);
  const bare = await start('reverse-proxy', String(port), folder);
  const product = await startProduct(workshop, {
    env: {
      STRONGROOM_OUTBOUND_ALLOW: `127.0.0.1:${port},localhost:${port}`,
      STRONGROOM_OUTBOUND_CA_FILE: certificates.file('authority.pem'),
      STRONGROOM_PROXY_BODY_BYTES_MAX: String(2 * LARGE),
    },
  });
  const { key, managementKey } = await makeReactorTenant(product);
  const made: { id: string } = JSON.parse(
    await call(product.port, key, 'POST', '/tokens', JSON.stringify({ type: 'card_number', data: CARD })),
  );
  return { product, key, managementKey, card: made.id, bare, port };
}

function body(number: string): string {
  return JSON.stringify({ amount: 1_200, number, text: 'x'.repeat(940) });
}

async function measureForwarded({ plan, workshop }: Bench, places: Places): Promise<Row[]> {
  const { product, key, card, bare, port: destination } = places;
  const to = `SVC-PROXY-URL: https://127.0.0.1:${destination}\r\n`;
  const side = (port: number, pid: number, database: number, request: string): Side => ({
    watched: { api: pid, database },
    run: () => runLoad(workshop, { port, requests: [request], connections: CONNECTIONS, seconds: plan.seconds }),
  });
  const [ours = [], theirs = []] = await alternate(plan.rounds, [
    side(product.port, product.pid, product.database, wire('POST', '/proxy/charges', key, body(`{{ ${card} }}`), to)),
    side(bare.port, bare.pid, product.database, wire('POST', '/charges', '', body(CARD))),
  ]);
  const of = (rounds: readonly Round[], member: keyof Round) => rounds.map((round) => round[member]);
  const ratios = ours.map(({ perSecond }, n) => perSecond / (theirs[n]?.perSecond ?? Number.NaN));
  return [
    { what: 'calls a second', values: of(ours, 'perSecond'), unit: '/s' },
    { what: 'bare proxy, calls a second', values: of(theirs, 'perSecond'), unit: '/s' },
    { what: 'calls a second against a bare proxy', values: ratios, unit: 'times', bound: FORWARDED },
    { what: `p50 at ${CONNECTIONS} connections`, values: of(ours, 'p50Ms'), unit: 'ms' },
    { what: `p99 at ${CONNECTIONS} connections`, values: of(ours, 'p99Ms'), unit: 'ms' },
    { what: 'processor time of the API', values: of(ours, 'apiUs'), unit: 'µs' },
    { what: 'processor time of the bare proxy', values: of(theirs, 'apiUs'), unit: 'µs' },
    { what: 'processor time of PostgreSQL', values: of(ours, 'databaseUs'), unit: 'µs' },
  ];
}

/** The same call through a Proxy that has code for requests and through one that has none, turn by turn on one connection. */
async function measureTransform({ plan, workshop }: Bench, places: Places): Promise<Row[]> {
  const { product, key, managementKey, card, port } = places;
  const side = async (code: object): Promise<Side> => {
    const made = JSON.stringify({ name: 'Measured', destination_url: `https://localhost:${port}`, ...code });
    const proxy: { key: string } = JSON.parse(await call(product.port, managementKey, 'POST', '/proxies', made));
    const by = `SVC-PROXY-KEY: ${proxy.key}\r\n`;
    const request = wire('POST', '/proxy/charges', key, body(`{{ ${card} }}`), by);
    return {
      watched: { api: product.pid, database: product.database },
      run: () => runLoad(workshop, { port: product.port, requests: [request], connections: 1, seconds: plan.seconds }),
    };
  };
  const sides = [await side({}), await side({ request_transform: { code: TRANSFORM } })];
  const [plain = [], transformed = []] = await alternate(plan.rounds, sides);
  const p50s = (rounds: readonly Round[]) => rounds.map(({ p50Ms }) => p50Ms);
  const added = transformed.map(({ p50Ms }, n) => p50Ms - (plain[n]?.p50Ms ?? Number.NaN));
  return [
    { what: 'p50 on one connection, stored Proxy', values: p50s(plain), unit: 'ms' },
    { what: 'p50 on one connection, with code for requests', values: p50s(transformed), unit: 'ms' },
    { what: 'warm transform, added at p50', values: added, unit: 'ms', bound: TRANSFORM_ADDED_MS },
  ];
}

async function measureLarge({ plan }: Bench, { product, key, bare, port }: Places): Promise<Row[]> {
  const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-URL': `https://127.0.0.1:${port}` };
  const ours = { port: product.port, prefix: '/proxy', headers };
  const theirs = { port: bare.port, prefix: '', headers: {} };
  const downs: number[] = [];
  const growths: { readonly down: number[]; readonly up: number[] } = { down: [], up: [] };
  for (let round = 0; round <= plan.rounds; round += 1) {
    const down = await watchGrowth(product.pid, () => transfer(ours, 'down'));
    // Watched as well, though nobody asks what it grows by: looking takes time from the one who downloads.
    const bareDown = await watchGrowth(bare.pid, () => transfer(theirs, 'down'));
    const up = await watchGrowth(product.pid, () => transfer(ours, 'up'));
    if (round === 0) continue;
    downs.push(down.result / bareDown.result);
    growths.down.push(down.grownMb);
    growths.up.push(up.grownMb);
  }
  return [
    { what: '100 MB down, time against a bare proxy', values: downs, unit: 'times', bound: DOWNLOAD },
    { what: '100 MB down, growth of memory', values: growths.down, unit: 'MB', bound: GROWTH_MB },
    { what: '100 MB up, growth of memory', values: growths.up, unit: 'MB', bound: GROWTH_MB },
  ];
}

interface Way {
  readonly port: number;
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Milliseconds that it took. */
function transfer({ port, prefix, headers }: Way, direction: 'up' | 'down'): Promise<number> {
  const isUp = direction === 'up';
  const sent = isUp ? { 'Content-Type': 'application/octet-stream', 'Content-Length': LARGE } : {};
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const path = `${prefix}/${isUp ? 'up' : `bytes/${LARGE}`}`;
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      method: isUp ? 'PUT' : 'GET',
      headers: { ...headers, ...sent },
    });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode !== 200 || (!isUp && bytes !== LARGE))
          reject(new Error(`${response.statusCode}, ${bytes}`));
        else resolve(performance.now() - startedMs);
      });
    });
    if (!isUp) asked.end();
    else writeAll();

    function writeAll(left = LARGE): void {
      const piece = Buffer.alloc(Math.min(left, 65_536), 'x');
      if (left === 0) asked.end();
      else if (asked.write(piece)) setImmediate(writeAll, left - piece.length);
      else asked.once('drain', () => writeAll(left - piece.length));
    }
  });
}

/** By how much the resident memory of a process was above what it was before, at most. */
async function watchGrowth<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; grownMb: number }> {
  const before = await residentMb(pid);
  let most = before;
  const timer = setInterval(() => {
    void residentMb(pid).then((mb) => {
      most = Math.max(most, mb);
    });
  }, 20);
  const result = await work();
  clearInterval(timer);
  return { result, grownMb: most - before };
}

async function residentMb(pid: number): Promise<number> {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}
