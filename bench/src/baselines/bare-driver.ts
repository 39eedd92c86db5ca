import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { kindNumber } from '../../../server/dist/audit/kind.js';
import type { LoadResult } from '../load/closed.js';
import { latenciesOf } from '../statistics.js';

export interface BareDriverOptions {
  readonly socketDir: string;
  readonly tenantIds: readonly string[];
  readonly callers: number;
  readonly seconds: number;
}

const CONNECTIONS = 20;

const UPDATE = {
  name: 'bare_update',
  text: 'UPDATE tenants SET name = $2, modified_at = $3 WHERE id = $1 RETURNING id, name, modified_at',
};
const KIND = kindNumber({ entity_type: `'tenant'`, operation: `'update'`, outcome: `'success'` });
const INSERT = {
  name: 'bare_insert',
  text: `INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome, kind)
         VALUES ($1, $2, $3, 'tenant', $4, 'update', 'Tenant updated', 'success', ${KIND})`,
};

/** The baseline of a change: the same two statements in a transaction of their own, by the bare driver, without HTTP. */
async function measure(options: BareDriverOptions): Promise<LoadResult> {
  const pool = new pg.Pool({
    host: options.socketDir,
    user: 'strongroom_owner',
    database: 'strongroom',
    max: CONNECTIONS,
  });
  const untilMs = performance.now() + options.seconds * 1_000;
  const timesMs: number[] = [];
  async function caller(number: number): Promise<void> {
    const tenantId = options.tenantIds[number % options.tenantIds.length] ?? '';
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      const client = await pool.connect();
      const now = new Date();
      await client.query('BEGIN');
      await client.query({ ...UPDATE, values: [tenantId, 'Benchmark', now] });
      await client.query({ ...INSERT, values: [tenantId, now, randomUUID(), tenantId] });
      await client.query('COMMIT');
      client.release();
      timesMs.push(performance.now() - startedMs);
    }
  }
  const usedBefore = process.cpuUsage();
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: options.callers }, (_, number) => caller(number)));
  const seconds = (performance.now() - startedMs) / 1_000;
  const used = process.cpuUsage(usedBefore);
  await pool.end();
  return {
    requests: timesMs.length,
    seconds,
    perSecond: timesMs.length / seconds,
    ...latenciesOf(timesMs),
    refused: {},
    cpuSeconds: (used.user + used.system) / 1e6,
    groups: [],
  };
}

process.stdout.write(`${JSON.stringify(await measure(JSON.parse(await text(process.stdin))))}\n`);
