import assert from 'node:assert/strict';
import type { RuleDraft } from '../../access/check-rules.js';
import type { Transform } from '../../access/rules.js';
import { createExpressions } from '../../expressions/expressions.js';
import { everyRow } from '../../testing/every-row.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer, CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { SweepOptions } from '../../vault/expiry/sweep.js';
import { createOpener } from '../../vault/open/open.js';

export const NOON_MS = Date.UTC(2030, 4, 14, 12);
export const VAULT_PERMISSIONS = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'];
export const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
export const MASKED_CARD = { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2031 };

/** Good data of every type, with what a key that sees masks gets of it. */
export const SAMPLES = {
  token: { data: { any: ['thing', 1, null] }, masked: undefined, container: '/general/high/' },
  card: { data: CARD, masked: MASKED_CARD, container: '/pci/high/' },
  bank: {
    data: { routing_number: '021000021', account_number: '00123456789' },
    masked: { routing_number: '021000021', account_number: 'XXXXXXX6789' },
    container: '/bank/high/',
  },
  card_number: { data: '378282246310005', masked: 'XXXXXXXXXXX0005', container: '/pci/high/' },
  us_bank_account_number: { data: '00123456789', masked: 'XXXXXXX6789', container: '/bank/high/' },
  us_bank_routing_number: { data: '021000021', masked: 'XXXXX0021', container: '/bank/low/' },
  social_security_number: { data: '123-45-6789', masked: 'XXX-XX-6789', container: '/pii/high/' },
  employer_id_number: { data: '12-3456789', masked: 'XX-XXX6789', container: '/pii/high/' },
} as const;

/** A rule on a container; on the root unless told. */
export function rule(transform: Transform, container = '/', permissions = VAULT_PERMISSIONS, priority = 1): RuleDraft {
  return { priority, container, transform, permissions };
}

/** A card number with a right check digit, another one for each count. */
export function cardNumber(count: number): string {
  const digits = `4${String(count).padStart(14, '0')}`;
  let sum = 0;
  for (const [at, digit] of [...digits].entries()) {
    const share = Number(digit) * (at % 2 === 0 ? 2 : 1);
    sum += share > 9 ? share - 9 : share;
  }
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

export interface LogEntry {
  readonly operation: string;
  readonly message: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly actor_id: string | null;
}

export interface TestVault {
  readonly app: TestApp;
  readonly clock: FakeClock;
  readonly tenant: TestTenant;
  /** Sees everything in the clear. */
  readonly key: string;
  send(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Makes a token and gives its body; fails unless it was made. */
  make(token: unknown, key?: string): Promise<Answer['json']>;
  keyWith(rules: readonly RuleDraft[], permissions?: readonly string[]): Promise<string>;
  setTenant(settings: Readonly<Record<string, string>>): Promise<void>;
  /** What the log holds of the tenant's tokens, oldest first. */
  logOf(entityId?: string): Promise<LogEntry[]>;
  report(): Promise<Answer['json']>;
  /** Counters as a recount of the tables would give them. */
  assertCountersTrue(): Promise<void>;
  readonly sweeping: SweepOptions;
}

export function pathOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}

/** The product with a clock turned by hand, one tenant, and a key that sees everything. */
export async function openVault(env: Readonly<Record<string, string>> = {}, startMs = NOON_MS): Promise<TestVault> {
  const clock = createFakeClock(startMs);
  return vaultOf(await startTestApp({ clock, env }), clock);
}

/** A further tenant in a running app. */
export async function vaultOf(app: TestApp, clock: FakeClock): Promise<TestVault> {
  const tenant = await app.makeTenant();
  const keyWith: TestVault['keyWith'] = (rules, permissions = []) =>
    app.makeKey(tenant.id, 'private', permissions, rules);
  const key = await keyWith([rule('reveal')]);
  const opener = createOpener({ database: app.database, keyring: app.keyStore.keyring, onIntegrityFault: () => {} });
  const send: TestVault['send'] = (method, path, body, options) =>
    app.call(method, path, { key, ...(body !== undefined && { body }), ...options });
  const report = async () =>
    (await app.call('GET', '/tenants/self/reports/usage', { key: tenant.key })).json.token_report;
  return {
    app,
    clock,
    tenant,
    key,
    send,
    keyWith,
    report,
    sweeping: { database: app.database, opener, expressions: createExpressions() },
    async make(token, as = key) {
      const { status, json, text } = await app.call('POST', '/tokens', { key: as, body: token });
      assert.equal(status, 201, text);
      return json;
    },
    async setTenant(settings) {
      const body = { name: 'Tenant under test', settings };
      assert.equal((await app.call('PUT', '/tenants/self', { key: tenant.key, body })).status, 200);
    },
    async logOf(entityId) {
      const { rows } = await app.db.owner.query<LogEntry>(
        `SELECT operation, message, entity_type, entity_id, actor_id FROM logs
         WHERE tenant_id = $1 AND entity_type NOT IN ('tenant', 'application', 'session')
           AND ($2::text IS NULL OR entity_id = $2) ORDER BY created_at, id`,
        [tenant.id, entityId ?? null],
      );
      return rows;
    },
    async assertCountersTrue() {
      const { rows } = await app.db.owner.query(
        `SELECT group_id, coalesce(counted.count, 0) AS counted, coalesce(there.count, 0) AS there
         FROM (SELECT group_id, sum(count) AS count FROM token_groups WHERE tenant_id = $1 GROUP BY 1) AS counted
         FULL JOIN (SELECT group_id, count(*) AS count FROM tokens WHERE tenant_id = $1 GROUP BY 1) AS there
           USING (group_id)
         WHERE coalesce(counted.count, 0) <> coalesce(there.count, 0)`,
        [tenant.id],
      );
      assert.deepEqual(rows, [], 'counters say what a recount says');
    },
  };
}

/** Fails if the work wrote anything anywhere. */
export async function writesNothing<T>(app: TestApp, work: () => Promise<T>): Promise<T> {
  const before = await everyRow(app);
  const outcome = await work();
  assert.deepEqual(await everyRow(app), before, 'nothing was written');
  return outcome;
}

/** Runs it so often at the same time. */
export function times<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => work(n)));
}

export function tally(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
