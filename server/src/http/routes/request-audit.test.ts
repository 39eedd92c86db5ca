import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Principal } from '../../access/principal.js';
import type { Entry } from '../../audit/entry.js';
import { TENANT_EVENTS } from '../../resources/tenants/events.js';
import type { Gather } from '../../storage/bulk.js';
import type { Database } from '../../storage/database.js';
import { CALLER } from '../../testing/route-server.js';
import { createRequestAudit } from './request-audit.js';
import type { RouteAudit } from './route.js';
import { defineRoute } from './route.js';

/** The one entry of an audited request. */
async function entryOf(
  audit: Pick<RouteAudit, 'entityId' | 'entityTypeOf'>,
  id: string,
  isDenied: boolean,
  principal: Principal = CALLER,
): Promise<Entry | undefined> {
  const written: Entry[] = [];
  const refuse = () => Promise.reject(new Error('nothing else is asked'));
  const gather: Gather = async (bulk, rows) => {
    // The only rows written soon are log entries with who and when; those that come last count them.
    if (bulk.when !== 'last')
      written.push(...(rows as readonly unknown[] as readonly { entry: Entry }[]).map(({ entry }) => entry));
    return bulk.collect([], rows);
  };
  const database: Pick<Database, 'write'> = {
    write: (tenantId, work) => work({ kind: 'tenant', tenantId, lane: 0, run: refuse, gather }),
  };
  const route = defineRoute({
    method: 'GET',
    path: '/things/:id',
    permission: 'tenant:read',
    admits: ['application'],
    limits: [],
    tag: 'T',
    summary: 'S',
    description: 'D',
    status: 204,
    audit: { ...audit, onRead: TENANT_EVENTS.retrieved, onDenied: TENANT_EVENTS.denied },
    handle: () => undefined,
  });
  const auditContext = { actor: CALLER.actor, atMs: 0, sourceAddress: undefined, traceId: undefined };
  await createRequestAudit(database)({ route, params: { id }, principal, auditContext, isDenied });
  assert.equal(written.length, 1);
  return written[0];
}

/** The id that it names. */
async function idIn(entityId: RouteAudit['entityId'], id: string, isDenied: boolean): Promise<string | undefined> {
  return (await entryOf({ entityId }, id, isDenied))?.entityId;
}

describe('the entry of full auditing', () => {
  it('names the tenant, nothing, or the entity of the path as its id is stored', async () => {
    const uuid = '4C4F2A4E-8D8F-4A53-9D6B-5B0A3C1F7A10';
    assert.equal(await idIn('tenant', 'x', false), CALLER.tenantId);
    assert.equal(await idIn('*', 'x', false), '*');
    assert.equal(await idIn({ param: 'id' }, 'Some id', false), 'Some id');
    assert.equal(await idIn({ param: 'id' }, uuid, true), uuid.toLowerCase());
    assert.equal(await idIn({ param: 'id', isText: true }, uuid, true), uuid);
    assert.equal(await idIn({ param: 'other' }, 'x', true), '*');
  });

  it('names the Application of the key, and none for a session, which has no key', async () => {
    assert.equal(await idIn('application', 'x', false), CALLER.applicationId);
    const session = { ...CALLER, kind: 'session', isAuthorized: true, actor: { type: 'session', id: 'x' } } as const;
    assert.equal((await entryOf({ entityId: 'application' }, 'x', true, session))?.entityId, '*');
  });

  it('has the type of the row where the route can tell it, and that of the event where there is no such row', async () => {
    const asked: string[] = [];
    const audit = {
      entityId: { param: 'id' },
      entityTypeOf: async (tenantId: string, id: string) => {
        asked.push(`${tenantId} ${id}`);
        return id === 'a card' ? ('card' as const) : undefined;
      },
    };
    assert.equal((await entryOf(audit, 'a card', true))?.entityType, 'card');
    assert.equal((await entryOf(audit, 'nobody', true))?.entityType, undefined);
    await entryOf(audit, 'x'.repeat(401), true);
    assert.deepEqual(asked, [`${CALLER.tenantId} a card`, `${CALLER.tenantId} nobody`]);
  });

  it('names nothing for an id longer than any entity has, because the log could not hold it', async () => {
    assert.equal(await idIn({ param: 'id' }, '😀'.repeat(400), true), '😀'.repeat(400));
    assert.equal(await idIn({ param: 'id' }, 'x'.repeat(401), true), '*');
  });
});
