import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { grantsOf, heldBy } from '../../../access/grants.js';
import type { Application } from '../../../access/principal.js';
import type { AuditContext } from '../../../audit/entry.js';
import { AppError, overloaded } from '../../../kernel/errors.js';
import { createLargeWork } from '../../../kernel/large-work.js';
import type { CodeVersion, Run, RunBounds, RunInput } from '../../../sandbox/run.js';
import { createMemory } from '../../../storage/memory.js';
import { eventually } from '../../../testing/eventually.js';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import { testVault } from '../../../testing/test-vault.js';
import { REACTOR_CACHE } from '../cache.js';
import type { CurrentReactor } from '../definition/current-reactor.js';
import { createReactorStore } from '../definition/store.js';
import type { RunCode } from '../run/run-code.js';
import { createAccept } from './accept.js';
import type { ReactorQueue } from './queue.js';
import { startReactorQueue } from './queue.js';
import type { QueueTenant } from './queue-fixture.js';
import { queueTenant } from './queue-fixture.js';

/** The queue of a process with a stand-in for the engine, so that it can be made to refuse. */
describe('a queued call that cannot be run', () => {
  let app: TestApp;
  let clock: FakeClock;
  let of: QueueTenant;
  let caller: Application;
  let run: (code: CodeVersion, input: RunInput, bounds: RunBounds) => Promise<Run> = () => Promise.reject(overloaded());
  let queue: ReactorQueue | undefined;
  const attempts: number[] = [];
  const faults: unknown[] = [];
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock, env: { STRONGROOM_REACTORS: 'off' } });
    of = await queueTenant(app);
    // The app itself knows from now on that it runs nothing.
    const { id } = await of.make('x');
    assert.equal((await app.call('POST', `/reactors/${id}/react`, { key: of.caller.key })).status, 503);
    const grants = grantsOf('private', ['token:create', 'token:use'], '[]');
    caller = {
      kind: 'application',
      tenantId: of.tenant.id,
      applicationId: of.caller.id,
      applicationType: 'private',
      keyId: '',
      actor: { type: 'application', id: of.caller.id },
      permissions: heldBy(grants),
      grants: [grants],
    };
  });
  afterEach(async () => {
    await queue?.close();
    faults.length = 0;
    attempts.length = 0;
  });
  after(() => app.close());

  async function asked(): Promise<{ readonly reactorId: string; readonly requestId: string }> {
    const { database, keyStore } = app;
    const parts = {
      ...{ database, clock, keyring: keyStore.keyring, systemKeys: keyStore.systemKeys, vault: testVault(app) },
      ...{ forgetAccess: () => {}, onSecurity: () => {}, onIntegrityFault: () => {}, onReactorAltered: () => {} },
      largeWork: createLargeWork(),
      reactorMemory: createMemory<CurrentReactor>({ ...REACTOR_CACHE, entriesMax: 1, isTrusted: () => false }),
      principals: { application: async () => caller, session: async () => undefined },
      runCode: {
        check: () => {},
        run: (async (code, input, bounds) => {
          const given = await input();
          attempts.push(given.attempt);
          return run(code, given, bounds);
        }) as RunCode['run'],
      },
      ...{ tokensPerRequestMax: 100, headerPrefixes: ['SVC'], onInvoked: () => {} },
      ...{ outbound: { send: () => Promise.reject(new Error('nothing is sent')) }, instancesMax: 2 },
      ...{ instancesPerTenantMax: 2, timeOf: () => clock.nowMs(), onFault: (error: unknown) => faults.push(error) },
    };
    const started = startReactorQueue(parts);
    queue = started;
    const { id: reactorId } = await of.make('x');
    const accept = createAccept({ ...parts, store: createReactorStore(parts), queue: started });
    const auditContext: AuditContext = {
      ...{ actor: caller.actor, atMs: clock.nowMs(), sourceAddress: undefined, traceId: undefined },
    };
    const input = { args: { kept: 1 }, callbackUrl: undefined, timeoutMs: 10_000 };
    return { reactorId, requestId: await accept(caller, auditContext, reactorId, input, (id) => id) };
  }
  const tried = (requestId: string, tries: number) =>
    eventually(`it was put off ${tries} times`, async () => {
      const row = await of.row(requestId);
      return row?.state === 'queued' && row.lease === null && row.tries === tries;
    });
  const isOver = (requestId: string, state: string) =>
    eventually(`it is ${state}`, async () => (await of.row(requestId))?.state === state);
  const read = (reactorId: string, requestId: string) =>
    app.call('GET', `/reactors/${reactorId}/results/${requestId}`, { key: of.caller.key });

  it('is tried five times, after longer and longer, then failed with what kept it; told to, it runs as it was asked', async () => {
    run = () => Promise.reject(overloaded());
    const { reactorId, requestId } = await asked();
    for (const [at, seconds] of [1, 5, 25, 125].entries()) {
      await tried(requestId, at + 1);
      const row = await of.row(requestId);
      assert.deepEqual([row?.failure_code, row?.failure_status], ['overloaded', 503]);
      assert.deepEqual(row?.due_at, new Date(clock.nowMs() + seconds * 1_000));
      assert.equal((await read(reactorId, requestId)).status, 404);
      clock.advance(seconds * 1_000);
    }
    await isOver(requestId, 'failed');
    assert.deepEqual(attempts, [1, 2, 3, 4, 5]);
    const failed = await read(reactorId, requestId);
    assert.deepEqual([failed.status, failed.json.code, failed.headers.get('retry-after')], [503, 'overloaded', '1']);
    const [listed] = (await of.get(`/reactors/${reactorId}/requests`)).json.data;
    assert.deepEqual([listed.state, listed.error], ['failed', { code: 'overloaded', status: 503 }]);
    let args: unknown;
    run = async (_code, input) => {
      args = input.args;
      return { outcome: { outcome: 'returned', value: { raw: 'ran' }, console: [] }, isCold: false };
    };
    const path = `/reactors/${reactorId}/requests/${requestId}/retry`;
    assert.equal((await app.call('POST', path, { key: of.manager })).json.state, 'queued');
    queue?.wake();
    await isOver(requestId, 'done');
    assert.deepEqual([args, attempts.at(-1)], [{ kept: 1 }, 6]);
    assert.deepEqual((await read(reactorId, requestId)).json, { raw: 'ran' });
  });

  it('has a refusal as its result at once, and a fault of ours is tried again without a word of it', async () => {
    run = () => Promise.reject(new AppError('payload_too_large', 'Too large.'));
    const large = await asked();
    await isOver(large.requestId, 'done');
    assert.equal((await read(large.reactorId, large.requestId)).status, 413);
    const entries = (await of.get(`/logs?entity_id=${large.reactorId}`)).json.data;
    const failed = entries.filter(({ message }: { message: string }) => message === 'Reactor invocation failed');
    assert.equal(failed.length, 1);
    await queue?.close();
    run = () => Promise.reject(new Error('told to nobody'));
    const broken = await asked();
    await tried(broken.requestId, 1);
    assert.equal((await of.row(broken.requestId))?.failure_code, 'internal_error');
    assert.equal(faults.length, 1);
  });

  it('makes no tokens and has no result where another process has it when it ends', async () => {
    const { rows: before } = await app.db.owner.query('SELECT FROM tokens WHERE tenant_id = $1', [of.tenant.id]);
    let taken = '';
    run = async (_code, { requestId }) => {
      taken = requestId;
      await app.db.owner.query('UPDATE reactor_requests SET lease = gen_random_uuid() WHERE id = $1', [requestId]);
      const value = { tokenize: { type: 'token', data: 'an orphan' } };
      return { outcome: { outcome: 'returned', value, console: [] }, isCold: false };
    };
    const { reactorId, requestId } = await asked();
    await eventually('it is logged', async () => {
      const { json } = await of.get(`/logs?entity_id=${reactorId}`);
      return json.data.some(({ message }: { message: string }) => message === 'Reactor invocation failed');
    });
    assert.equal(taken, requestId);
    assert.equal((await of.row(requestId))?.ended_at, null);
    const { rows } = await app.db.owner.query('SELECT FROM tokens WHERE tenant_id = $1', [of.tenant.id]);
    assert.equal(rows.length, before.length);
    assert.deepEqual(faults, []);
  });
});
