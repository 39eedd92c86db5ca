import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBrowser } from '@strongroom/test-servers/find.js';
import type { Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { goalOf } from '../goals.js';
import { openLoad } from '../load/open.js';
import { fillLogCounts, fillLogs } from '../log-fill.js';
import type { Findings, Table } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { wire } from '../requests.js';
import { median, spread } from '../statistics.js';

const ROWS = 1_000_000;
const ROWS_QUICK = 20_000;
const TAIL_PER_SECOND = 50;
const TAIL_SECONDS = 60;
const TAIL_SECONDS_QUICK = 5;
const KEPT_ROWS = 500;
const EMAIL = 'owner@bench.example';
const BYTES_PER_MB = 1_000_000;
const MS_PER_SECOND = 1_000;
const HANGS_MS = 120_000;

/** What somebody at a browser waits for: the pages of a tenant with a long log, and the log as it grows. */
export async function measurePortal(bench: Bench): Promise<Findings> {
  const executablePath = findBrowser();
  if (executablePath === undefined)
    return { ...NOTHING, notes: ['Not measured: there is no Chromium on this machine.'] };
  const password = randomBytes(16).toString('hex');
  const folder = await bench.workshop.folder();
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const product = await startProduct(bench.workshop, {
    env: { STRONGROOM_OWNER_EMAIL: EMAIL, STRONGROOM_OWNER_PASSWORD_FILE: passwordFile },
  });
  const tenantId = await firstTenant(product);
  const rows = bench.plan.isQuick ? ROWS_QUICK : ROWS;
  await fillLogs(product.socketDir, [{ id: tenantId, rows }]);
  await fillLogCounts(product.socketDir, tenantId);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const close = bench.workshop.defer(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(HANGS_MS);
  const portal = `http://localhost:${product.port}/portal`;
  await signIn(page, portal, password);
  const opened = await measureOpening(bench, page, `${portal}/tenants/${tenantId}`);
  const tail = await measureTail(bench, product, page, `${portal}/tenants/${tenantId}`);
  await close();
  await product.stop();
  return {
    ...NOTHING,
    tables: [openingTable(rows, opened), tailTable(tail)],
    goals: [
      goalOf(`Portal: first rows of a log of ${rows} entries, ms`, opened.get('logs') ?? [], { most: 1_000 }, 0),
      goalOf('Portal: growth of the page under a tail of 50 rows a second, MB', [tail.grownMb], { most: 5 }, 1),
    ],
  };
}

async function firstTenant({ port, key }: Product): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/tenants/self`, { headers: { 'SVC-API-KEY': key } });
  return ((await response.json()) as { id: string }).id;
}

async function signIn(page: Page, portal: string, password: string): Promise<void> {
  await page.goto(`${portal}/sign-in`);
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Each page with what tells that its first content is there. */
const PAGES: readonly (readonly [string, string])[] = [
  ['overview', 'figure'],
  ['logs', 'tr[data-entry]'],
  ['applications', 'tbody tr'],
  ['members', 'tbody tr'],
];

/** From the address to the first content, in a browser that has the files and none of the answers. */
async function measureOpening({ plan, say }: Bench, page: Page, tenant: string): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  for (const [name, content] of PAGES) {
    const times: number[] = [];
    for (let round = 0; round <= plan.rounds; round += 1) {
      await page.goto('about:blank');
      const startedMs = performance.now();
      await page.goto(`${tenant}/${name}`, { waitUntil: 'commit' });
      await page.locator(content).first().waitFor();
      if (round > 0) times.push(performance.now() - startedMs);
    }
    found.set(name, times);
    say(`${name}: ${spread(times, 0)} ms`);
  }
  return found;
}

interface Tail {
  readonly seconds: number;
  readonly beforeMb: number;
  readonly grownMb: number;
  readonly rows: number;
}

async function measureTail({ plan, say }: Bench, product: Product, page: Page, tenant: string): Promise<Tail> {
  const seconds = plan.isQuick ? TAIL_SECONDS_QUICK : TAIL_SECONDS;
  await page.goto(`${tenant}/logs?live=1`);
  await page.getByText('Live').first().waitFor();
  const offer = (length: number) =>
    openLoad({
      port: product.port,
      requests: [wire('PUT', '/tenants/self', product.key, JSON.stringify({ name: 'Benchmark' }))],
      connections: 4,
      phases: [{ seconds: length, perSecond: TAIL_PER_SECOND }],
    });
  // As many as it keeps, so that what is measured is a page that is full.
  await offer(Math.ceil(KEPT_ROWS / TAIL_PER_SECOND) + 1);
  const beforeMb = await heapMb(page);
  await offer(seconds);
  const afterMb = await heapMb(page);
  const rows = await page.locator('tr[data-entry]').count();
  if (rows !== KEPT_ROWS) throw new Error(`the page shows ${rows} rows of what was written, not ${KEPT_ROWS}`);
  say(`tail: ${beforeMb.toFixed(1)} MB, then ${afterMb.toFixed(1)} MB with ${rows} rows`);
  return { seconds, beforeMb, grownMb: afterMb - beforeMb, rows };
}

/** What the page holds once everything that can be thrown away was. */
async function heapMb(page: Page): Promise<number> {
  await page.waitForTimeout(2 * MS_PER_SECOND);
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / BYTES_PER_MB;
}

function openingTable(rows: number, opened: ReadonlyMap<string, readonly number[]>): Table {
  return {
    title: `Pages of a tenant with ${rows} log entries: from the address to the first content`,
    head: ['page', 'ms'],
    rows: [...opened].map(([name, times]) => [name, spread([...times], 0)]),
  };
}

function tailTable({ seconds, beforeMb, grownMb, rows }: Tail): Table {
  return {
    title: `The log as it grows: ${TAIL_PER_SECOND} entries a second for ${seconds} s`,
    head: ['heap of the page, MB', 'added, MB', 'rows kept'],
    rows: [[median([beforeMb]).toFixed(1), grownMb.toFixed(1), String(rows)]],
  };
}
