import assert from 'node:assert/strict';
import type { ServerAddress } from '../../storage/embedded/embedded-server.js';
import { findRunningServer } from '../../storage/embedded/running-server.js';
import { connectAs } from '../empty-database.js';
import type { Journal } from './journal.js';

interface Stored {
  readonly logs: { readonly trace_id: string; readonly tenant_id: string; readonly xid: string }[];
  readonly tenants: { readonly id: string; readonly name: string; readonly xid: string }[];
}

/** Reads past the API, as the owner. Both tables in one snapshot, each row with the transaction that made it. */
async function readStored({ socketDir, port, database, ownerRole }: ServerAddress): Promise<Stored> {
  const client = await connectAs({ socketDir, port, database, user: ownerRole });
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const logs = await client.query<Stored['logs'][number]>(
      `SELECT trace_id, tenant_id, xmin::text AS xid FROM logs WHERE operation = 'update'`,
    );
    const tenants = await client.query<Stored['tenants'][number]>('SELECT id, name, xmin::text AS xid FROM tenants');
    return { logs: logs.rows, tenants: tenants.rows };
  } finally {
    await client.end();
  }
}

/**
 * Compares what the writers were promised with what is stored; returns how many of those left without an answer are
 * there. Call it when no writer is at work.
 */
export async function verify(dataDir: string, journal: Journal, story: string): Promise<number> {
  const server = await findRunningServer(dataDir);
  assert.ok(server, 'the embedded server takes connections');
  const { logs, tenants } = await readStored(server);
  const traces = new Set(logs.map(({ trace_id }) => trace_id));
  const lost = [...journal.acknowledged.keys()].filter((traceId) => !traces.has(traceId));
  const unwanted = [...journal.refused].filter((traceId) => traces.has(traceId));
  const unsent = [...traces].filter((traceId) => !journal.acknowledged.has(traceId) && !journal.unknown.has(traceId));
  assert.deepEqual(
    { lost: lost.length, repeated: logs.length - traces.size, unwanted, unsent },
    { lost: 0, repeated: 0, unwanted: [], unsent: [] },
    story,
  );
  for (const tenant of tenants) {
    const own = logs.filter(({ tenant_id }) => tenant_id === tenant.id);
    if (own.length === 0) continue;
    const entry = own.find(({ trace_id }) => trace_id === tenant.name);
    assert.equal(entry?.xid, tenant.xid, `${story}: the name and its log entry are not from one transaction`);
    const endedMs = journal.acknowledged.get(tenant.name)?.answeredMs ?? Number.POSITIVE_INFINITY;
    const later = own.filter(({ trace_id }) => (journal.acknowledged.get(trace_id)?.sentMs ?? 0) > endedMs);
    assert.deepEqual(later, [], `${story}: an update was undone by one that had ended before it began`);
  }
  return [...journal.unknown].filter((traceId) => traces.has(traceId)).length;
}
