import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createGather } from '../storage/bulk.js';
import type { Database } from '../storage/database.js';
import type { TenantTx } from '../storage/scope.js';
import { CALLER } from '../testing/route-server.js';
import { createRequestAudit } from './request-audit.js';
import type { RouteAudit } from './route.js';
import { defineRoute } from './route.js';

/** The values of the one entry an audited request writes. */
async function entryOf(entityId: RouteAudit['entityId'], id: string, isDenied: boolean): Promise<readonly unknown[]> {
  const written: unknown[][] = [];
  const run: TenantTx['run'] = (_statement, values) => {
    // One row, as columns of one value each.
    written.push(values.flat());
    return Promise.resolve([]);
  };
  const database: Pick<Database, 'write'> = {
    write: (tenantId, work) => work({ kind: 'tenant', tenantId, lane: 0, run, gather: createGather(run) }),
  };
  const route = defineRoute({
    method: 'GET',
    path: '/things/:id',
    permission: 'tenant:read',
    limits: [],
    tag: 'T',
    summary: 'S',
    description: 'D',
    status: 204,
    audit: { entityId, onRead: 'tenant_retrieved', onDenied: 'tenant_denied' },
    handle: () => undefined,
  });
  const act = { actor: CALLER.actor, atMs: 0, sourceAddress: undefined, traceId: undefined };
  await createRequestAudit(database)({ route, params: { id }, principal: CALLER, act, isDenied });
  assert.equal(written.length, 1);
  return written[0] ?? [];
}

describe('the entry of full auditing', () => {
  it('names the tenant, nothing, or the entity of the path as its id is stored', async () => {
    const uuid = '4C4F2A4E-8D8F-4A53-9D6B-5B0A3C1F7A10';
    assert.ok((await entryOf('tenant', 'x', false)).includes(CALLER.tenantId));
    assert.ok((await entryOf('*', 'x', false)).includes('*'));
    assert.ok((await entryOf({ param: 'id' }, 'Some id', false)).includes('Some id'));
    assert.ok((await entryOf({ param: 'id' }, uuid, true)).includes(uuid.toLowerCase()));
    assert.ok((await entryOf({ param: 'other' }, 'x', true)).includes('*'));
  });

  it('names nothing for an id longer than any entity has, because the log could not hold it', async () => {
    assert.ok((await entryOf({ param: 'id' }, '😀'.repeat(400), true)).includes('😀'.repeat(400)));
    const entry = await entryOf({ param: 'id' }, 'x'.repeat(401), true);
    assert.ok(entry.includes('*') && !entry.includes('x'.repeat(401)));
  });
});
