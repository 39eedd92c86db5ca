import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { BasisTheory, BasisTheoryClient, BasisTheoryError } from '@basis-theory/node-sdk';
import { isError, statusOf, toArray, traceIdOf } from './compatibility-node-sdk-checks.js';
import { nodeSdkPeople } from './compatibility-node-sdk-people.js';
import { nodeSdkProxies } from './compatibility-node-sdk-proxies.js';
import { nodeSdkReactors } from './compatibility-node-sdk-reactors.js';
import { nodeSdkTokens } from './compatibility-node-sdk-tokens.js';
import type { Reference } from './compatibility-subject.js';
import { given } from './compatibility-subject.js';
import type { Calls } from './recorded-client.js';
import { callsOf, recorded } from './recorded-client.js';
import { TOKEN_PERMISSIONS } from './vault.js';

const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead';
const KEYS_MAX = 10;
const HOUR_MS = 3_600_000;
const EVERYTHING = {
  description: 'All',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: TOKEN_PERMISSIONS,
};

const NOT_SERVED = [
  'accountUpdater.jobs.create',
  'accountUpdater.jobs.get',
  'accountUpdater.jobs.list',
  'accountUpdater.realTime.invoke',
  'applePay.domain.deregister',
  'applePay.domain.get',
  'applePay.domain.register',
  'applePay.domain.registerAll',
  'applePay.session.create',
  'applePay.tokenize',
  'enrichments.bankAccountVerify',
  'googlepay.tokenize',
  'networkTokens.create',
  'networkTokens.cryptogram',
  'networkTokens.delete',
  'networkTokens.get',
  'tenants.connections.create',
  'tenants.connections.delete',
  'tenants.owner.get',
  'threeds.sessions.authenticate',
  'threeds.sessions.create',
  'threeds.sessions.get',
  'threeds.sessions.getChallengeResult',
  'tokenIntents.create',
  'tokenIntents.delete',
  'tokenIntents.get',
  'webhooks.create',
  'webhooks.delete',
  'webhooks.events.list',
  'webhooks.get',
  'webhooks.list',
  'webhooks.ping',
  'webhooks.update',
];

export function nodeSdk(reference: () => Reference): void {
  const driven: Calls = new Set();
  const clientOf = (apiKey: string): BasisTheoryClient =>
    recorded(new BasisTheoryClient({ apiKey, baseUrl: reference().baseUrl }), driven);
  const management = (): BasisTheoryClient => clientOf(reference().managementKeys.nodeSdk);

  describe('@basis-theory/node-sdk: governance', () => {
    it('lists permissions, all and of one type', async () => {
      const all = await management().permissions.list();
      assert.ok(all.length >= 30);
      assert.deepEqual(all[0], {
        type: 'token:create',
        description: 'Create tokens',
        applicationTypes: ['public', 'private'],
      });
      const some = await management().permissions.list({ applicationType: 'public' });
      assert.deepEqual(
        some.map(({ type }) => type),
        ['token:create', 'token:update'],
      );
      const refused = management().permissions.list({ applicationType: 'robot' });
      await assert.rejects(refused, (error) => isError(error, BasisTheory.BadRequestError, 'application_type'));
    });

    it('reads and changes its tenant; a setting that is not named stays', async () => {
      const { self } = management().tenants;
      const was = await self.get();
      assert.ok(was.createdAt instanceof Date);
      const first = await self.update({ name: 'By SDK', settings: { fingerprint_tokens: 'true' } });
      assert.deepEqual([first.id, first.ownerId, first.name], [was.id, was.ownerId, 'By SDK']);
      const second = await self.update({ name: 'By SDK', settings: { deduplicate_tokens: 'true' } });
      assert.deepEqual(second.settings, { fingerprint_tokens: 'true', deduplicate_tokens: 'true' });
      assert.ok(second.modifiedAt instanceof Date);
      const settings = { fingerprint_tokens: 'false', deduplicate_tokens: 'false' };
      assert.deepEqual((await self.update({ name: 'By SDK', settings })).settings, settings);
      const refused = self.update({ name: '' });
      await assert.rejects(refused, (error) => isError(error, BasisTheory.BadRequestError, 'name'));
    });

    it('reads the usage report', async () => {
      const report = await management().tenants.self.getUsageReports();
      assert.ok('token_report' in report);
    });

    it('pages through logs by number until a page is empty, and from a cursor on', async () => {
      const { logs, tenants } = management();
      for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) await tenants.self.update({ name });
      const all = (await logs.list({ size: 1000 })).data;
      assert.ok(all.length >= 5);
      const [newest] = all;
      assert.equal(newest?.message, 'Tenant updated');
      assert.equal(newest?.actorType, 'application');
      assert.ok(newest?.createdAt instanceof Date);
      assert.deepEqual(await toArray(await logs.list({ size: 2 })), all);
      const page = await logs.list({ page: 1, size: 2 });
      assert.ok(page.hasNextPage());
      assert.deepEqual((await page.getNextPage()).data, all.slice(2, 4));
      const answer = await fetch(`${reference().baseUrl}/logs?size=3`, {
        headers: { 'BT-API-KEY': reference().managementKeys.nodeSdk },
      });
      const { pagination }: { pagination: { after: string } } = JSON.parse(await answer.text());
      assert.deepEqual(await toArray(await logs.list({ start: pagination.after, size: 2 })), all.slice(3));
    });

    it('narrows logs by type, entity and date', async () => {
      const { logs, tenants } = management();
      const id = given((await tenants.self.get()).id);
      const all = (await logs.list({ size: 1000 })).data;
      const ofTenant = all.filter(({ entityType }) => entityType === 'tenant');
      assert.deepEqual((await logs.list({ entityType: 'tenant', entityId: id, size: 1000 })).data, ofTenant);
      const middle = given(all[Math.floor(all.length / 2)]?.createdAt);
      const since = all.filter(({ createdAt }) => given(createdAt) >= middle);
      const until = all.filter(({ createdAt }) => given(createdAt) < middle);
      assert.deepEqual((await logs.list({ startDate: middle, size: 1000 })).data, since);
      assert.deepEqual((await logs.list({ endDate: middle, size: 1000 })).data, until);
      const types = await logs.getEntityTypes();
      assert.deepEqual(
        types.find(({ value }) => value === 'card'),
        { displayName: 'Card', value: 'card' },
      );
    });
  });

  describe('@basis-theory/node-sdk: applications', () => {
    it('creates, reads, lists, changes and deletes an application', async () => {
      const { applications } = management();
      const made = await applications.create({ name: 'Shop', type: 'private', rules: [EVERYTHING] });
      const id = given(made.id);
      assert.match(given(made.key), /^key_pvt_/);
      assert.deepEqual(made.rules, [EVERYTHING]);
      const { key: _key, ...readable } = made;
      const found = await applications.get(id);
      const { keys, ...rest } = found;
      assert.deepEqual([rest, keys?.length], [readable, 1]);
      assert.equal((await applications.list()).data[0]?.id, id, 'what was just made comes first');
      assert.deepEqual((await applications.list({ id: [id, UNKNOWN_ID], type: ['private'] })).data, [found]);
      const changed = await applications.update(id, { name: 'Renamed', permissions: ['token:read'], rules: [] });
      assert.deepEqual([changed.name, changed.permissions], ['Renamed', ['token:read']]);
      assert.equal((await clientOf(given(made.key)).applications.getByKey()).id, id);
      assert.equal(await applications.delete(id), undefined);
      await assert.rejects(applications.get(id), (error) => isError(error, BasisTheory.NotFoundError));
    });

    it('pages through applications until a page is empty', async () => {
      const { applications } = management();
      for (const name of ['A', 'B', 'C']) {
        const made = await applications.create({
          name,
          type: 'public',
          permissions: ['token:create'],
          createKey: false,
        });
        assert.equal(made.key, undefined);
      }
      const all = (await applications.list({ size: 100 })).data;
      assert.deepEqual(await toArray(await applications.list({ size: 2 })), all);
    });

    it('adds, reads and revokes further keys', async () => {
      const { applications, applicationKeys } = management();
      const made = await applications.create({ name: 'Keys', type: 'public', permissions: ['token:create'] });
      const id = given(made.id);
      const added = await applicationKeys.create(id);
      const keyId = given(added.id);
      assert.ok((await applicationKeys.list(id)).some((listed) => listed.id === keyId));
      const shown = await applicationKeys.get(id, keyId);
      assert.deepEqual([shown.id, shown.key, shown.createdAt], [keyId, undefined, added.createdAt]);
      const holder = clientOf(given(added.key));
      assert.equal((await holder.applications.getByKey()).id, id);
      assert.equal(await applicationKeys.delete(id, keyId), undefined);
      await assert.rejects(holder.applications.getByKey(), (error) => isError(error, BasisTheory.UnauthorizedError));
    });

    it('400 for an eleventh key, with a problem that can be read', async () => {
      const { applications, applicationKeys } = management();
      const { id } = await applications.create({ name: 'Ten', type: 'public', permissions: ['token:create'] });
      for (let held = 1; held < KEYS_MAX; held++) await applicationKeys.create(given(id));
      const refused = applicationKeys.create(given(id));
      await assert.rejects(refused, (error) => isError(error, BasisTheoryError) && statusOf(error) === 400);
      assert.equal((await applicationKeys.list(given(id))).length, KEYS_MAX);
    });

    it('reads templates', async () => {
      const { applicationTemplates } = management();
      const all = await applicationTemplates.list();
      const full = given(all.find(({ name }) => name === 'Full Access'));
      assert.equal(full.applicationType, 'private');
      assert.deepEqual(await applicationTemplates.get(given(full.id)), full);
      const refused = applicationTemplates.get(UNKNOWN_ID);
      await assert.rejects(refused, (error) => isError(error, BasisTheory.NotFoundError));
    });

    it('404 whose body repeats the trace id that the client sent', async () => {
      const apiKey = reference().managementKeys.nodeSdk;
      const client = new BasisTheoryClient({ apiKey, baseUrl: reference().baseUrl, correlationId: 'order-4711' });
      await assert.rejects(
        client.applications.get(UNKNOWN_ID),
        (error) => isError(error, BasisTheory.NotFoundError) && traceIdOf(error) === 'order-4711',
      );
    });

    it('400 with errors for a permission nobody knows, 403 with the permission that is missing', async () => {
      const { applications } = management();
      const odd = applications.create({ name: 'Odd', type: 'private', permissions: ['token:levitate'] });
      await assert.rejects(odd, (error) => isError(error, BasisTheory.BadRequestError, 'permissions'));
      const { key } = await applications.create({ name: 'Weak', type: 'private', permissions: ['token:read'] });
      const denied = clientOf(given(key)).applications.list();
      await assert.rejects(denied, (error) => isError(error, BasisTheory.ForbiddenError));
    });
  });

  describe('@basis-theory/node-sdk: tokens and sessions', () => {
    let keys: { readonly private: string; readonly public: string; readonly reader: string };
    before(async () => {
      const { applications } = management();
      const permissions = ['token:create', 'token:update'];
      const [full, narrow, reader] = await Promise.all([
        applications.create({ name: 'Full', type: 'private', rules: [EVERYTHING] }),
        applications.create({ name: 'Narrow', type: 'public', permissions }),
        applications.create({ name: 'Reader', type: 'private', permissions: ['token:read'] }),
      ]);
      keys = { private: given(full.key), public: given(narrow.key), reader: given(reader.key) };
    });

    nodeSdkTokens(
      () => clientOf(keys.private),
      () => clientOf(keys.reader),
    );
    nodeSdkPeople(management, reference);
    nodeSdkProxies(management);
    nodeSdkReactors(management, () => clientOf(keys.private), reference);

    it('opens a session, authorizes it, and reads with it what was granted', async () => {
      const [server, browser] = [clientOf(keys.private), clientOf(keys.public)];
      const { id } = await server.tokens.create({ type: 'token', data: 'seen by a session' });
      const session = await browser.sessions.create();
      assert.ok(session.expiresAt instanceof Date);
      const visitor = clientOf(given(session.sessionKey));
      await assert.rejects(visitor.tokens.get(given(id)), (error) => isError(error, BasisTheory.ForbiddenError));
      const conditions = [{ attribute: 'id', operator: 'equals', value: given(id) }];
      const rules = [{ description: 'One', priority: 1, conditions, permissions: ['token:read'], transform: 'reveal' }];
      const nonce = given(session.nonce);
      const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
      assert.equal(await server.sessions.authorize({ nonce, rules, expiresAt }), undefined);
      assert.equal((await visitor.tokens.get(given(id))).data, 'seen by a session');
      const again = server.sessions.authorize({ nonce, rules });
      await assert.rejects(again, (error) => isError(error, BasisTheory.ConflictError));
    });
  });

  it('@basis-theory/node-sdk: deletes its tenant, and is then refused', async () => {
    const { self } = management().tenants;
    assert.equal(await self.delete(), undefined);
    await assert.rejects(self.get(), (error) => isError(error, BasisTheory.UnauthorizedError));
  });

  it('@basis-theory/node-sdk: every call it has was answered, or is of a resource that is not served', () => {
    const all = callsOf(new BasisTheoryClient({ apiKey: 'unused' }), []);
    assert.deepEqual([...driven, ...NOT_SERVED].sort(), all);
  });
}
