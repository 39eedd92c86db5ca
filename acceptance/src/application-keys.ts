import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as rest } from 'node:timers/promises';
import type { Sent } from './client.js';
import { assertConventional, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, ONE, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Application, KeyName, Listed } from './vault.js';
import { DATE, keyOf, UNKNOWN_ID, UUID } from './vault.js';

interface Key extends KeyName {
  readonly key?: string;
  readonly expires_at?: string;
  readonly last_used_at?: string;
}

interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly application_type: string;
  readonly template_type: string;
  readonly is_starter: boolean;
  readonly rules: readonly object[];
  readonly permissions: readonly string[];
}

const EMPTY_FORMS: readonly Sent[] = [
  {},
  { raw: '', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  { raw: '', headers: { 'Content-Type': 'application/json' } },
  { body: {} },
];

function suite(subject: () => Subject): void {
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: subject().keys.management, ...sent });
  const make = async (): Promise<Application> => {
    const body = { name: 'Keyed', type: 'private', permissions: ['token:read'] };
    return (await call('POST', '/applications', { body })).as();
  };
  const statusOf = async (key = ''): Promise<number> => (await call('GET', '/applications/key', { key })).status;

  describe('keys of applications', () => {
    it('200 for regenerating: the new key works, the earlier ones stop at once', async () => {
      const made = await make();
      const further = (await call('POST', `/applications/${made.id}/keys`)).as<Key>();
      const answer = await call('POST', `/applications/${made.id}/regenerate`);
      assert.equal(answer.status, 200);
      const { key } = answer.as<Application>();
      assert.deepEqual([await statusOf(key), await statusOf(made.key), await statusOf(further.key)], [200, 401, 401]);
    });

    it('200 with an overlap: the earlier key goes on and its end is shown', async () => {
      const made = await make();
      const { key } = (
        await call('POST', `/applications/${made.id}/regenerate`, { body: { overlap_seconds: 600 } })
      ).as<Application>();
      assert.deepEqual([await statusOf(key), await statusOf(made.key)], [200, 200]);
      const keys = (await call('GET', `/applications/${made.id}/keys`)).as<Key[]>();
      assert.deepEqual(
        keys.map(({ expires_at }) => expires_at !== undefined),
        [false, true],
      );
      assert.match(keys[1]?.expires_at ?? '', DATE);
    });

    for (const overlap_seconds of [-1, 604_801, 1.5, '60']) {
      it(`400 for an overlap of ${JSON.stringify(overlap_seconds)}, and the key stays`, async () => {
        const made = await make();
        const answer = await call('POST', `/applications/${made.id}/regenerate`, { body: { overlap_seconds } });
        const { errors } = assertProblem(answer, 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), ['overlap_seconds']);
        assert.equal(await statusOf(made.key), 200);
      });
    }

    it('200 and 201 for every form of an empty body', async () => {
      const { id } = await make();
      for (const sent of EMPTY_FORMS) {
        assert.equal((await call('POST', `/applications/${id}/regenerate`, sent)).status, 200, JSON.stringify(sent));
        assert.equal((await call('POST', `/applications/${id}/keys`, sent)).status, 201, JSON.stringify(sent));
      }
    });

    it('201 with a further key, listed and read without it, newest first, in a plain array', async () => {
      const made = await make();
      const answer = await call('POST', `/applications/${made.id}/keys`);
      assert.equal(answer.status, 201);
      const { key, ...shown } = answer.as<Key>();
      assert.deepEqual(Object.keys(shown).sort(), ['created_at', 'created_by', 'id']);
      assert.match(shown.id, UUID);
      assert.equal(answer.headers.get('location'), `/applications/${made.id}/keys/${shown.id}`);
      assert.deepEqual([await statusOf(key), await statusOf(made.key)], [200, 200]);
      const keys = (await call('GET', `/applications/${made.id}/keys`)).as<Key[]>();
      // The last use may be shown already.
      const { last_used_at: _, ...newest } = keys[0] ?? {};
      assert.deepEqual([keys.length, newest], [2, shown]);
      const { last_used_at: __, ...read } = (await call('GET', `/applications/${made.id}/keys/${shown.id}`)).as<Key>();
      assert.deepEqual(read, shown);
      // One that is never used: the answer about a used one changes when its use is written.
      const unused = (await call('POST', `/applications/${made.id}/keys`)).as<Key>();
      await assertConventional(subject().call, `/applications/${made.id}/keys/${unused.id}`, subject().keys.management);
    });

    it('200 with only the keys named by id, which may repeat, and none for an id of nobody', async () => {
      const { id } = await make();
      await call('POST', `/applications/${id}/keys`);
      await call('POST', `/applications/${id}/keys`);
      const idsOf = async (query: string): Promise<string[]> =>
        (await call('GET', `/applications/${id}/keys${query}`)).as<Key[]>().map((key) => key.id);
      const all = await idsOf('');
      assert.equal(all.length, 3);
      assert.deepEqual(await idsOf(`?id=${all[2]}&id=${all[0]?.toUpperCase()}`), [all[0], all[2]]);
      assert.deepEqual(await idsOf(`?id=${UNKNOWN_ID}`), []);
      assert.deepEqual(await idsOf('?id=nonsense'), []);
      assert.deepEqual(await idsOf('?id='), all);
    });

    it('200 with the hour of the last use a moment after it, and without before the first', async () => {
      const made = await make();
      const path = `/applications/${made.id}/keys`;
      const [unused] = (await call('GET', path)).as<Key[]>();
      assert.equal(unused?.last_used_at, undefined);
      assert.equal(await statusOf(made.key), 200);
      const read = async () => (await call('GET', `${path}/${unused?.id}`)).as<Key>();
      const deadlineMs = performance.now() + 30_000;
      while ((await read()).last_used_at === undefined) {
        assert.ok(performance.now() < deadlineMs, 'it is not shown');
        await rest(50);
      }
      const { last_used_at = '' } = await read();
      assert.match(last_used_at, /^\d{4}-\d\d-\d\dT\d\d:00:00\.000\+00:00$/);
      assert.ok(Math.abs(Date.now() - Date.parse(last_used_at)) < 2 * 3_600_000, last_used_at);
      assert.equal((await call('GET', path)).as<Key[]>()[0]?.last_used_at, last_used_at);
    });

    it('200 with the names of its keys on GET, list and PUT of an application, and never the key', async () => {
      const { id } = await make();
      await call('POST', `/applications/${id}/keys`);
      const names = (await call('GET', `/applications/${id}/keys`)).as<Key[]>().map((key) => ({
        id: key.id,
        created_by: key.created_by,
        created_at: key.created_at,
      }));
      assert.equal(names.length, 2);
      assert.deepEqual((await call('GET', `/applications/${id}`)).as<Application>().keys, names);
      const list = (await call('GET', `/applications?id=${id}`)).as<Listed<Application>>();
      assert.deepEqual(list.data[0]?.keys, names);
      const body = { name: 'Renamed', permissions: ['token:read'] };
      assert.deepEqual((await call('PUT', `/applications/${id}`, { body })).as<Application>().keys, names);
    });

    it('400 for an eleventh key', async () => {
      const { id } = await make();
      for (let made = 1; made < 10; made += 1) {
        assert.equal((await call('POST', `/applications/${id}/keys`)).status, 201);
      }
      assertProblem(await call('POST', `/applications/${id}/keys`), 400, 'validation_failed');
      assert.equal((await call('GET', `/applications/${id}/keys`)).as<Key[]>().length, 10);
    });

    it('204 for revoking: 401 at once; the last may go too; 404 for a key of another application', async () => {
      const [made, other] = [await make(), await make()];
      const [own] = (await call('GET', `/applications/${made.id}/keys`)).as<Key[]>();
      const path = `/applications/${made.id}/keys/${own?.id}`;
      for (const method of ['GET', 'DELETE']) {
        assertProblem(await call(method, `/applications/${other.id}/keys/${own?.id}`), 404, 'not_found');
        assertProblem(await call(method, `/applications/${made.id}/keys/${UNKNOWN_ID}`), 404, 'not_found');
        assertProblem(await call(method, path, { key: subject().keys.otherTenantManagement }), 404, 'not_found');
      }
      assert.equal(await statusOf(keyOf(made)), 200);
      const gone = await call('DELETE', path);
      assert.deepEqual([gone.status, gone.text], [204, '']);
      assert.deepEqual([await statusOf(keyOf(made)), await statusOf(keyOf(other))], [401, 200]);
      assertProblem(await call('DELETE', path), 404, 'not_found');
      assert.deepEqual((await call('GET', `/applications/${made.id}/keys`)).as(), []);
    });

    it('the first answer again under an idempotency key; the secret only for the credential that asked', async () => {
      const { id } = await make();
      const headers = { 'SVC-IDEMPOTENCY-KEY': 'rotate-once' };
      const first = await call('POST', `/applications/${id}/regenerate`, { headers });
      const again = await call('POST', `/applications/${id}/regenerate`, { headers });
      assert.deepEqual([again.status, again.text], [first.status, first.text]);
      assert.equal(await statusOf(first.as<Application>().key), 200, 'it was not made a second time');
      const { key: fellow } = (await call('POST', `/applications/${(await own()).id}/keys`)).as<Key>();
      const replay = await call('POST', `/applications/${id}/regenerate`, { headers, key: fellow ?? '' });
      const { key: _, ...shown } = first.as<Application>();
      assert.deepEqual(replay.as(), shown);
      const bad = { 'SVC-IDEMPOTENCY-KEY': 'two words' };
      assert.equal((await call('POST', `/applications/${id}/keys`, { headers: bad })).status, 400);
    });
    const own = async () => (await call('GET', '/applications/key')).as<Application>();
  });

  describe('application templates', () => {
    it('200 with a plain array in every tenant, each as it can be read alone; it makes an application', async () => {
      const all = await call('GET', '/application-templates');
      assert.equal(all.status, 200);
      const templates = all.as<Template[]>();
      assert.deepEqual(templates.map(({ name }) => name).sort(), [
        'Collect Bank Data',
        'Collect PCI Data',
        'Collect PII Data',
        'Full Access',
        'Full Management Access',
        'Use Bank Tokens',
        'Use PCI Tokens',
      ]);
      for (const template of templates) {
        const { id, name, application_type: type, rules, permissions } = template;
        assert.match(id, UUID);
        assert.deepEqual((await call('GET', `/application-templates/${id}`)).as(), template);
        const made = await call('POST', '/applications', { body: { name, type, rules, permissions } });
        assert.equal(made.status, 201, made.text);
      }
      const theirs = await call('GET', '/application-templates', { key: subject().keys.otherTenantManagement });
      assert.equal(theirs.text, all.text);
      await assertConventional(subject().call, '/application-templates', subject().keys.public);
    });
  });
}

export const applicationKeys: Resource = {
  endpoints: [
    endpoint(['POST', '/applications/{id}/regenerate'], 'application:update', 200, [...SENT, 404], {}),
    endpoint(['GET', '/applications/{id}/keys'], 'application:read', 200, ONE),
    endpoint(['POST', '/applications/{id}/keys'], 'application:update', 201, [...SENT, 404], {}),
    endpoint(['GET', '/applications/{id}/keys/{key_id}'], 'application:read', 200, ONE),
    endpoint(['DELETE', '/applications/{id}/keys/{key_id}'], 'application:update', 204, ONE),
  ],
  suite,
};
