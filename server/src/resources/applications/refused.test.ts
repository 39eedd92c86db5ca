import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const RULE = { priority: 1, container: '/pci/', permissions: ['token:create'] };
const FOREVER = Array.from({ length: 101 }, (_, index) => ({ ...RULE, priority: index + 1 }));
const ABSENT = Symbol('the field is left out');

/** A field, what is wrong with it, and the path the refusal names. */
const WRONG: readonly (readonly [field: string, value: unknown, path?: string])[] = [
  ...[ABSENT, null, '', '  ', '\u200b', 'x'.repeat(201), 'a\u0000b', '\ud800', 7, true, {}, ['A']].map(
    (value) => ['name', value] as const,
  ),
  ...['admin', 'Public', '', 7, [], {}].map((value) => ['type', value] as const),
  ...['token:create', 7, {}, true].map((value) => ['permissions', value] as const),
  ['permissions', ['token:nonsense']],
  ['permissions', ['token:read']],
  ['permissions', ['token:create', 'tenant:read']],
  ['permissions', [7], 'permissions[0]'],
  ['permissions', ['token:create', 'x'.repeat(101)], 'permissions[1]'],
  ['permissions', ['a\u0000'], 'permissions[0]'],
  ['permissions', Array.from({ length: 101 }, () => 'token:create')],
  ...[7, 'x', {}, FOREVER].map((value) => ['rules', value] as const),
  ...[7, 'x', null, []].map((value) => ['rules', [value], 'rules[0]'] as const),
  ...[ABSENT, null, 0, -1, 1.5, '1', 1e300, {}].map((value) => ruleWith('priority', value)),
  ...[ABSENT, null, '', 'pci', '/pci', 'pci/', '//', '/p ci/', '/p\u0000/', 7, `/${'a'.repeat(200)}/`].map((value) =>
    ruleWith('container', value),
  ),
  ...[7, 'x'.repeat(201), 'a\u0000', []].map((value) => ruleWith('description', value)),
  ...['show', 'Mask', '', 7].map((value) => ruleWith('transform', value)),
  ...[ABSENT, null, [], 'token:create', ['token:read'], ['tenant:read'], ['x']].map((value) =>
    ruleWith('permissions', value),
  ),
  ruleWith('conditions', [{ attribute: 'id', operator: 'equals', value: 'x' }]),
  ruleWith('conditions', 7),
  ['rules', [RULE, { ...RULE, container: '/x/' }], 'rules[1].priority'],
  ...['2020-01-01', '2030-01-15T11:59:59Z', 'tomorrow', '2030-02-30', '13/1/2031', '2031', '', 7, {}, true].map(
    (value) => ['expires_at', value] as const,
  ),
];

function ruleWith(member: string, value: unknown): readonly [string, unknown, string] {
  return ['rules', [withField(RULE, member, value)], `rules[0].${member}`];
}

function withField(body: object, field: string, value: unknown): object {
  const { [field]: _, ...rest } = body as Record<string, unknown>; // An object of the test's own making.
  return value === ABSENT ? rest : { ...rest, [field]: value };
}

function shown(value: unknown): string {
  return value === ABSENT ? 'left out' : (JSON.stringify(value) ?? 'nothing').slice(0, 50);
}

describe('applications, refused', () => {
  const clock = createFakeClock(Date.UTC(2030, 0, 15, 12));
  let app: TestApp;
  let tenant: TestTenant;
  let id: string;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    ({ id } = await app.makeApplication(tenant.id, 'public', ['token:create']));
  });
  after(() => app.close());

  async function stored(): Promise<string> {
    const found = await app.db.owner.query(
      `SELECT (SELECT jsonb_agg(a ORDER BY id) FROM applications a) AS a, (SELECT jsonb_agg(to_jsonb(k) - 'last_used_at' ORDER BY id) FROM api_keys k) AS k,
              (SELECT count(*) FROM logs) AS l`,
    );
    return JSON.stringify(found.rows);
  }

  async function assertRefused(method: string, path: string, body: unknown, errorPath: string): Promise<void> {
    const untouched = await stored();
    const { status, json } = await app.call(method, path, { key: tenant.key, body });
    assert.deepEqual([status, json.code], [400, 'validation_failed'], json.detail);
    assert.deepEqual(Object.keys(json.errors), [errorPath]);
    assert.equal(await stored(), untouched);
  }

  for (const [field, value, path = field] of WRONG) {
    it(`400 naming ${path} for ${field} ${shown(value)}, on POST and PUT alike, and nothing is written`, async () => {
      const good = { name: 'A', type: 'public', permissions: ['token:create'] };
      await assertRefused('POST', '/applications', withField(good, field, value), path);
      await assertRefused('PUT', `/applications/${id}`, withField(good, field, value), path);
    });
  }

  it('400 for a type left out of POST, and for another type in PUT', async () => {
    await assertRefused('POST', '/applications', { name: 'A', permissions: ['token:create'] }, 'type');
    const other = { name: 'A', type: 'private', permissions: ['token:create'] };
    await assertRefused('PUT', `/applications/${id}`, other, 'type');
  });

  it('400 for neither permissions nor rules, and for rules of a management application', async () => {
    for (const rest of [{}, { permissions: [] }, { permissions: [], rules: [] }, { permissions: null, rules: null }]) {
      await assertRefused('POST', '/applications', { name: 'A', type: 'public', ...rest }, 'permissions');
      await assertRefused('PUT', `/applications/${id}`, { name: 'A', ...rest }, 'permissions');
    }
    const ruled = { name: 'A', permissions: ['log:read'], rules: [RULE] };
    await assertRefused('POST', '/applications', { ...ruled, type: 'management' }, 'rules');
    const manager = await app.makeApplication(tenant.id, 'management', ['log:read']);
    await assertRefused('PUT', `/applications/${manager.id}`, ruled, 'rules');
  });

  it('400 for create_key that is no boolean and for an overlap out of range', async () => {
    for (const create_key of ['false', 0, {}]) {
      const body = { name: 'A', type: 'public', permissions: ['token:create'], create_key };
      await assertRefused('POST', '/applications', body, 'create_key');
    }
    for (const overlap_seconds of [-1, 604_801, 1.5, '1', true]) {
      await assertRefused('POST', `/applications/${id}/regenerate`, { overlap_seconds }, 'overlap_seconds');
    }
  });

  it('400 for every fault at once, and for a body that is no object', async () => {
    const body = { name: '', type: 'x', permissions: 7, rules: [{ priority: 0 }] };
    const { json } = await app.call('POST', '/applications', { key: tenant.key, body });
    for (const path of ['name', 'type', 'permissions', 'rules[0].priority', 'rules[0].permissions']) {
      assert.ok(json.errors[path], path);
    }
    const semantic = {
      name: 'A',
      type: 'public',
      permissions: ['token:use'],
      rules: [{ ...RULE, container: 'x' }],
      expires_at: '2020-01-01',
    };
    const refused = await app.call('POST', '/applications', { key: tenant.key, body: semantic });
    assert.deepEqual(Object.keys(refused.json.errors).sort(), ['expires_at', 'permissions', 'rules[0].container']);
    for (const wrong of [[], 'x', 7]) await assertRefused('POST', '/applications', wrong, '$');
    await assertRefused('POST', '/applications', undefined, '$');
  });

  it('400 before 404: a broken body is refused whether or not the Application exists', async () => {
    const path = '/applications/4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
    await assertRefused('PUT', path, { name: 'A', permissions: ['token:nonsense'] }, 'permissions');
    await assertRefused('PUT', path, { name: 'A', permissions: ['token:read'], expires_at: 'x' }, 'expires_at');
  });

  it('400 does not repeat a key that was pasted where a permission belongs', async () => {
    const body = {
      name: 'A',
      type: 'public',
      permissions: [tenant.key],
      rules: [{ ...RULE, permissions: [tenant.key] }],
    };
    const { status, text } = await app.call('POST', '/applications', { key: tenant.key, body });
    assert.equal(status, 400);
    assert.ok(!text.includes(tenant.key) && !app.logLines.join('').includes(tenant.key));
  });
});
