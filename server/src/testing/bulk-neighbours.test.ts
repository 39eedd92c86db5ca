import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { ADD_LOG_COUNTS } from '../audit/count-queries.js';
import type { AuditContext } from '../audit/entry.js';
import { operatorContext } from '../audit/entry.js';
import { record } from '../audit/record.js';
import { emptyAnswersShowing, FIND_KEPT_ANSWERS } from '../kept-answers/queries.js';
import { newId } from '../kernel/ids.js';
import { touchApiKeys } from '../resources/applications/keys/queries.js';
import type { FigureQueries } from '../resources/definitions/figures/queries.js';
import { PROXY_FIGURES } from '../resources/proxies/figures/queries.js';
import { REACTOR_FIGURES } from '../resources/reactors/figures/queries.js';
import { createGather } from '../storage/bulk.js';
import type { TenantTx } from '../storage/scope.js';
import { setModified } from '../vault/carry/queries.js';
import { addActiveTokens, addToGroups } from '../vault/count/queries.js';
import { TOKEN_EVENTS } from '../vault/events.js';
import { claimFingerprint, releaseClaim } from '../vault/make/claim-queries.js';
import { insertCombinations } from '../vault/make/combination-queries.js';
import {
  deleteTerms,
  deleteTokens,
  FIND_IDS,
  FIND_MANY_TOKENS,
  FIND_TOKENS,
  findWholeTokens,
  insertTerms,
  insertTokens,
  LOCK_TOKENS,
  updateToken,
} from '../vault/queries.js';
import type { TokenRow } from '../vault/stored/row.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

/** Values that have no business in a row, by what belongs there. Types are broken on purpose: nothing here trusts them. */
const NOTHING = [null, undefined];
const ODD = {
  text: ['a\u0000b', '\u0000', '\ud83d', 'x\ude00\ud83dy', 'x'.repeat(20_000), '', 7, {}, ['a', 'b'], ...NOTHING],
  uuid: ['', 'no-uuid', '{}', newId().slice(1), `${newId()}0`, `g${newId().slice(1)}`, '\u0000', 7, {}, ...NOTHING],
  bytes: [Buffer.alloc(0), Buffer.alloc(5), 'text', 7, {}, ...NOTHING],
  date: [new Date(Number.NaN), new Date(8.64e15), new Date(-8.64e15), 7, '2030-01-01', {}, ...NOTHING],
  instant: [Number.NaN, Number.POSITIVE_INFINITY, 1e300, -8.64e15, 8.64e15, 0.5, '7', {}, ...NOTHING],
  number: [Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 31, -(2 ** 63), 1e300, 0.5, '7', 'x', {}, ...NOTHING],
  day: ['2030-13-45', '0000-00-00', 'yesterday', '\u0000', '10000000-01-01', '', 7, {}, ...NOTHING],
} as const satisfies Readonly<Record<string, readonly unknown[]>>;
type Kind = keyof typeof ODD;

const TOKEN_KINDS: Readonly<Partial<Record<keyof TokenRow, Kind>>> = {
  tenant_id: 'uuid',
  id: 'text',
  type: 'text',
  group_id: 'uuid',
  created_at: 'date',
  tie: 'uuid',
  created_by: 'uuid',
  expires_at: 'date',
  cvc_expires_at: 'date',
  fingerprint: 'bytes',
  terms: 'bytes',
  data_version: 'number',
  sealed: 'bytes',
};

interface Case {
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Runs the statement for a good row of this tenant with `odd` written over it. */
  run(tx: TenantTx, odd: object): Promise<unknown>;
}

const token = ({ tenantId }: TenantTx, odd: object): TokenRow => ({
  tenant_id: tenantId,
  id: newId(),
  type: 'token',
  group_id: newId(),
  created_at: new Date(),
  tie: newId(),
  created_by: newId(),
  modified_by: null,
  modified_at: null,
  expires_at: null,
  cvc_expires_at: null,
  fingerprint: Buffer.alloc(32, 1),
  terms: Buffer.alloc(32, 2),
  data_version: 1,
  sealed: Buffer.from('sealed'),
  ...odd,
});
const place = { tenant_id: 'uuid', terms: 'bytes', created_at: 'date', tie: 'uuid' } as const;
const key = { tenantId: 'uuid', id: 'text' } as const;

/** Every bulk statement by its name in the source. A new one without a case fails the first test below. */
const CASES: Readonly<Record<string, Case>> = {
  FIND_TOKENS: {
    kinds: key,
    run: (tx, odd) => tx.gather(FIND_TOKENS, [{ tenantId: tx.tenantId, id: newId(), ...odd }]),
  },
  FIND_MANY_TOKENS: {
    kinds: key,
    run: (tx, odd) => tx.gather(FIND_MANY_TOKENS, [{ tenantId: tx.tenantId, id: newId(), ...odd }]),
  },
  FIND_WHOLE: {
    kinds: { id: 'text' },
    run: (tx, odd) => findWholeTokens(tx, [{ id: newId(), ...odd }.id]),
  },
  FIND_IDS: {
    kinds: key,
    run: (tx, odd) => tx.gather(FIND_IDS, [{ tenantId: tx.tenantId, id: newId(), ...odd }]),
  },
  LOCK_TOKENS: {
    kinds: key,
    run: (tx, odd) => tx.gather(LOCK_TOKENS, [{ tenantId: tx.tenantId, id: newId(), ...odd }]),
  },
  INSERT_TOKENS: {
    kinds: TOKEN_KINDS,
    run: async (tx, odd) => assert.equal((await insertTokens(tx, [token(tx, odd)])).length, 1),
  },
  INSERT_TERMS: { kinds: place, run: (tx, odd) => insertTerms(tx, [token(tx, odd)]) },
  DELETE_TERMS: { kinds: place, run: (tx, odd) => deleteTerms(tx, [token(tx, odd)]) },
  DELETE_TOKENS: {
    kinds: { tenant_id: 'uuid', id: 'text', data_version: 'number' },
    async run(tx, odd) {
      const row = token(tx, {});
      await insertTokens(tx, [row]);
      await deleteTokens(tx, [{ ...row, ...odd }]);
    },
  },
  UPDATE_TOKENS: {
    kinds: {
      ...{ tenant_id: 'uuid', id: 'text', group_id: 'uuid', modified_by: 'uuid', modified_at: 'date' },
      ...{ expires_at: 'date', cvc_expires_at: 'date', fingerprint: 'bytes', terms: 'bytes' },
      ...{ data_version: 'number', sealed: 'bytes' },
    },
    async run(tx, odd) {
      const row = token(tx, {});
      await insertTokens(tx, [row]);
      await updateToken(tx, row, { ...row, data_version: 2, ...odd });
    },
  },
  SET_MODIFIED: {
    kinds: { tenant_id: 'uuid', id: 'text', modified_by: 'uuid', modified_at: 'date' },
    run: (tx, odd) => setModified(tx, [token(tx, { modified_by: newId(), modified_at: new Date(), ...odd })]),
  },
  CLAIM_FINGERPRINTS: {
    kinds: {
      tenantId: 'uuid',
      type: 'text',
      fingerprint: 'bytes',
      groupId: 'uuid',
      matchDigest: 'bytes',
      expiresAtMs: 'instant',
      scope: 'uuid',
      tokenId: 'text',
      atMs: 'instant',
    },
    run(tx, odd) {
      const place = { groupId: newId(), scope: newId(), matchDigest: Buffer.alloc(0), expiresAtMs: null };
      const claim = { type: 'card', fingerprint: Buffer.alloc(32, 3), ...place, tokenId: newId(), atMs: Date.now() };
      return claimFingerprint(tx, { tenantId: tx.tenantId, ...claim, ...odd });
    },
  },
  RELEASE_CLAIMS: {
    kinds: { type: 'text', fingerprint: 'bytes', id: 'text' },
    run: (tx, odd) => releaseClaim(tx, { type: 'card', fingerprint: Buffer.alloc(32, 3), id: newId(), ...odd }),
  },
  TOUCH_API_KEYS: {
    kinds: { tenantId: 'uuid', applicationId: 'uuid', keyId: 'uuid', usedAtMs: 'instant' },
    run(tx, odd) {
      const use = { tenantId: tx.tenantId, applicationId: newId(), keyId: newId(), usedAtMs: 0 };
      return touchApiKeys(tx, [{ ...use, ...odd }]);
    },
  },
  ADD_REACTOR_FIGURES: figureCase(REACTOR_FIGURES),
  ADD_PROXY_FIGURES: figureCase(PROXY_FIGURES),
  ADD_TO_GROUPS: {
    kinds: { groupId: 'uuid', type: 'text', containers: 'text', difference: 'number' },
    run: (tx, odd) =>
      addToGroups(tx, [{ groupId: newId(), type: 'token', containers: ['/x/'], difference: 1, ...odd }]),
  },
  ADD_ACTIVE_TOKENS: {
    kinds: { month: 'day', tokenId: 'text' },
    run(tx, odd) {
      const { month = '2030-01-01', tokenId = newId() } = odd as { month?: string; tokenId?: string };
      return addActiveTokens(tx, month, [tokenId, undefined]);
    },
  },
  LET_IN: {
    kinds: { groupId: 'uuid', type: 'text', containers: 'text' },
    run: (tx, odd) => insertCombinations(tx, [{ groupId: newId(), type: 'token', containers: ['/x/'], ...odd }], true),
  },
  FIND_KEPT_ANSWERS: {
    kinds: { tenantId: 'uuid', id: 'bytes' },
    run: (tx, odd) => tx.gather(FIND_KEPT_ANSWERS, [{ tenantId: tx.tenantId, id: Buffer.alloc(32, 4), ...odd }]),
  },
  EMPTY_ANSWERS: {
    kinds: { name: 'uuid' },
    run: (tx, odd) => emptyAnswersShowing(tx, [{ name: newId(), ...odd }.name]),
  },
  ADD_LOG_COUNTS: {
    kinds: {
      ...{ tenantId: 'uuid', day: 'number', actorType: 'text', actorId: 'uuid', entityType: 'text' },
      ...{ operation: 'text', outcome: 'text', slot: 'number', count: 'number' },
    },
    run(tx, odd) {
      const kind = { entityType: 'token', operation: 'read', outcome: 'success' };
      const row = { tenantId: tx.tenantId, day: 1, actorType: 'user', actorId: newId(), ...kind, slot: 0, count: 1 };
      return tx.gather(ADD_LOG_COUNTS, [{ ...row, ...odd }]);
    },
  },
  INSERT_DETAILED_LOGS: logCase({ entityVersion: 1, changes: [{ field: 'matches', from: null, to: 1 }] }),
  INSERT_LOGS: logCase({}),
};

/** The counters of a kind. */
function figureCase({ add }: FigureQueries): Case {
  return {
    kinds: { tenantId: 'uuid', definitionId: 'uuid', day: 'number', figure: 'text', count: 'number' },
    run(tx, odd) {
      const growth = { tenantId: tx.tenantId, definitionId: newId(), day: 1, figure: 'calls', count: 1 };
      return add(tx, [{ ...growth, ...odd }]);
    },
  };
}

/** An entry of the log, as it is or with more. */
function logCase(more: object): Case {
  return {
    kinds: {
      atMs: 'instant',
      actorId: 'uuid',
      actorType: 'text',
      sourceAddress: 'text',
      traceId: 'text',
      entityId: 'text',
      entityType: 'text',
      outcome: 'text',
    },
    run(tx, odd) {
      const { entityId, entityType, outcome, actorId, actorType, ...auditContext } = {
        ...{ entityId: 'an-id', entityType: 'token', outcome: 'success', actorId: newId(), actorType: 'application' },
        ...odd,
      } as Record<string, unknown>;
      const actor = { id: actorId, type: actorType };
      const done = { ...operatorContext(Date.now()), actor, ...auditContext } as unknown as AuditContext;
      return record(tx, done, { event: TOKEN_EVENTS.deleted, entityId, entityType, outcome, ...more } as never);
    },
  };
}

describe('a value that cannot be stored, in a statement that two tenants share', () => {
  let app: TestApp;
  let hostile: string;
  let healthy: string;
  before(async () => {
    app = await startTestApp();
    [hostile, healthy] = [(await app.makeTenant()).id, (await app.makeTenant()).id];
  });
  after(() => app.close());

  it('every bulk statement of the source has its case here', () => {
    assert.deepEqual(Object.keys(CASES).sort(), bulksOfSource());
  });

  for (const [name, { kinds, run }] of Object.entries(CASES)) {
    for (const [column, kind] of [...Object.entries(kinds), ['tenant', 'tenant'] as const]) {
      it(`${name}: whatever stands in ${column}, the neighbour's change is made and nothing else fails`, async () => {
        const values = kind === 'tenant' ? [newId(), healthy] : ODD[kind];
        for (const value of values) {
          const odd = kind === 'tenant' ? {} : { [column]: value };
          const met: TenantTx['gather'][] = [];
          const [, answer, after] = await Promise.allSettled([
            app.database.write(hostile, (tx) => {
              met.push(tx.gather);
              return run(kind === 'tenant' ? { ...tx, tenantId: String(value) } : tx, odd);
            }),
            app.database.write(healthy, (tx) => {
              met.push(tx.gather);
              return run(tx, {});
            }),
            app.database.write(healthy, (tx) => run(tx, {})),
          ]);
          assert.equal(met[0], met[1], 'they shared a transaction');
          assert.equal(answer.status, 'fulfilled', `${shown(value)}: ${shown(answer)}`);
          assert.equal(after.status, 'fulfilled', `${shown(value)}: ${shown(after)}`);
        }
      });
    }
  }

  for (const column of ['tenantId', 'id'] as const) {
    it(`a shared read: whatever stands in ${column}, the neighbour finds its token, also when it asks again`, async () => {
      const row = await app.database.write(healthy, async (tx) => (await insertTokens(tx, [token(tx, {})]))[0]);
      assert.ok(row);
      const good = { tenantId: healthy, id: row.id };
      for (const value of ODD[key[column]]) {
        const bad = { ...good, tenantId: hostile, [column]: value } as typeof good;
        const asked = [good, bad, good].map((each) =>
          app.database.find(each === bad ? hostile : healthy, FIND_TOKENS, each),
        );
        const [first, , last] = await Promise.allSettled(asked);
        for (const answer of [first, last]) {
          assert.ok(answer?.status === 'fulfilled', `${shown(value)}: ${shown(answer)}`);
          assert.equal(answer.value.get(good)?.id, row.id);
        }
      }
    });
  }

  it('a statement that shares no columns with a bad one is not held up by it', async () => {
    const sent: string[] = [];
    const gather = createGather(async ({ name }) => {
      sent.push(name);
      return [];
    });
    const tx = { kind: 'tenant', tenantId: healthy, lane: 0, run: async () => [], gather } as TenantTx;
    const outcomes = await Promise.allSettled([
      insertTerms(tx, [token(tx, { tie: 'odd' })]),
      insertTerms(tx, [token(tx, {})]),
      addToGroups(tx, [{ groupId: newId(), type: 'token', containers: [], difference: 1 }]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(sent, ['insert_token_terms', 'add_to_token_groups']);
  });
});

function shown(value: unknown): string {
  return value instanceof Error ? String(value) : (JSON.stringify(value) ?? String(value)).slice(0, 200);
}

/** Whatever is declared as one, made by `bulkWrite`, or made by a function that is declared to make one. */
function bulksOfSource(): string[] {
  const root = new URL('../../src/', import.meta.url);
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => {
      const text = readFileSync(new URL(name, root), 'utf8');
      const makers = [...text.matchAll(/function (\w+)\([^)]*\): Bulk</g)].map(([, maker]) => maker);
      const made = ['bulkWrite', ...makers].join('|');
      const pattern = new RegExp(`^(?:export )?const (\\w+)(?:: Bulk<| = (?:${made})[<(])`, 'gm');
      return [...text.matchAll(pattern)].map(([, bulk]) => bulk ?? '');
    });
  return names.sort();
}
