import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Principal } from '../access/principal.js';
import type { Rule, Transform } from '../access/rules.js';
import type { AuditContext } from '../audit/entry.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import type { Json } from '../kernel/json.js';
import { readNewToken } from '../resources/tokens/index.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { testVault } from '../testing/test-vault.js';
import type { Vault } from './index.js';

type Right = 'token:create' | 'token:read' | 'token:use';

describe('using tokens for what the product does in somebody’s name', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let vault: Vault;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    vault = testVault(app);
  });
  after(() => app.close());

  function holding(permissions: readonly Right[], rules: readonly Rule[] = []): Principal {
    const applicationId = newId();
    return {
      tenantId: tenant.id,
      applicationId,
      kind: 'application',
      keyId: newId(),
      applicationType: 'private',
      actor: { type: 'application', id: applicationId },
      permissions: new Set([...permissions, ...rules.flatMap((rule) => rule.permissions)]),
      grants: [{ permissions: new Set(permissions), rules }],
    };
  }
  const ruleOf = (transform: Transform): Rule => ({
    description: undefined,
    priority: 1,
    container: '/',
    conditions: undefined,
    transform,
    permissions: ['token:use'],
  });
  const auditContextOf = ({ actor }: Principal): AuditContext => ({
    actor,
    atMs: Date.now(),
    sourceAddress: undefined,
    traceId: undefined,
  });

  async function made(data: Json): Promise<string> {
    const maker = holding(['token:create']);
    const auditContext = auditContextOf(maker);
    const input = readNewToken({ data }, { path: '', nowMs: auditContext.atMs }, {}) ?? assert.fail();
    return (await vault.create(maker, auditContext, input)).id;
  }
  const entriesOf = async (id: string) => {
    const found = await app.db.owner.query<{ entry: string }>(
      `SELECT operation || ': ' || message || ', ' || outcome || ', ' || actor_id AS entry FROM logs
       WHERE tenant_id = $1 AND entity_id = $2 AND operation <> 'create' ORDER BY created_at, id`,
      [tenant.id, id],
    );
    return found.rows.map(({ entry }) => entry);
  };
  const refusedFor = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;

  for (const user of ['reactor', 'proxy'] as const) {
    it(`plain token:use gives the value in the clear to a ${user}, and the log has it by then`, async () => {
      const id = await made({ number: 7 });
      const principal = holding(['token:use']);
      const used = await vault.use(
        principal,
        auditContextOf(principal),
        { args: [`{{ ${id} | json: "$.number" }}`, 'as is'] },
        user,
      );
      assert.deepEqual(used, { args: [7, 'as is'] });
      assert.deepEqual(await entriesOf(id), [`use: Token used in ${user}, success, ${principal.actor.id}`]);
    });
  }

  it('counts the token as active in its month', async () => {
    const id = await made('old');
    await app.db.owner.query(`UPDATE tokens SET created_at = '2020-01-01' WHERE tenant_id = $1 AND id = $2`, [
      tenant.id,
      id,
    ]);
    const principal = holding(['token:use']);
    await vault.use(principal, auditContextOf(principal), [`{{ ${id} }}`], 'proxy');
    const active = await app.db.owner.query('SELECT FROM active_tokens WHERE tenant_id = $1 AND token_id = $2', [
      tenant.id,
      id,
    ]);
    assert.equal(active.rowCount, 1);
  });

  it('access_denied with token:read alone, and nothing is logged', async () => {
    const id = await made('secret');
    const principal = holding(['token:read']);
    await assert.rejects(
      vault.use(principal, auditContextOf(principal), [`{{ ${id} }}`], 'reactor'),
      refusedFor('access_denied'),
    );
    assert.deepEqual(await entriesOf(id), []);
  });

  it('access_denied under a rule that redacts, and with token:use where only token:read would do', async () => {
    const id = await made('secret');
    const redacted = holding([], [ruleOf('redact')]);
    await assert.rejects(
      vault.use(redacted, auditContextOf(redacted), [`{{ ${id} }}`], 'proxy'),
      refusedFor('access_denied'),
    );
    const user = holding(['token:use']);
    await assert.rejects(vault.detokenize(user, auditContextOf(user), [`{{ ${id} }}`]), refusedFor('access_denied'));
    assert.deepEqual(await entriesOf(id), []);
  });

  it('unknown_token for one of several gives none of them, and the log says nothing of the others', async () => {
    const id = await made('there');
    const principal = holding(['token:use']);
    const body = [`{{ ${id} }}`, `{{ ${newId()} }}`];
    await assert.rejects(vault.use(principal, auditContextOf(principal), body, 'reactor'), refusedFor('unknown_token'));
    assert.deepEqual(await entriesOf(id), []);
  });

  it('nothing is handed over where the entry cannot be written', async () => {
    const id = await made('guarded');
    const principal = holding(['token:use']);
    const full = () => Promise.reject(new Error('the log is full'));
    const database: TestApp['database'] = { ...app.database, write: full, append: full };
    const deaf = testVault(app, { database });
    await assert.rejects(deaf.use(principal, auditContextOf(principal), [`{{ ${id} }}`], 'proxy'), /the log is full/);
  });

  it('a token of another tenant is unknown', async () => {
    const id = await made('ours');
    const stranger = { ...holding(['token:use']), tenantId: (await app.makeTenant()).id };
    await assert.rejects(
      vault.use(stranger, auditContextOf(stranger), [`{{ ${id} }}`], 'reactor'),
      refusedFor('unknown_token'),
    );
  });
});
