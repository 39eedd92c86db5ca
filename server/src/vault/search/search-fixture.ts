import { createHash, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import type { Permission } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import type { Rule, Condition as RuleCondition } from '../../access/rules.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { groupIdOf } from '../stored/names.js';
import type { Filters } from './build.js';
import type { Group } from './directory-queries.js';
import type { Query } from './parse.js';

/** A token as a person would write it down. */
export interface PlainToken {
  readonly id: string;
  readonly type: string;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly indexes: readonly string[];
  readonly createdAtMs: number;
  readonly createdBy: string | null;
  readonly modifiedBy: string | null;
  readonly modifiedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly fingerprint: string | null;
}

export const SEARCH_NOON_MS = Date.UTC(2030, 0, 15, 12);
const DAY_MS = 86_400_000;

const PEOPLE = ['11111111-1111-4111-8111-111111111111', 'abcdef01-2345-4678-9abc-def012345678'];
const TYPES = ['card', 'token', 'bank'];
const CONTAINERS = ['/pci/', '/pci/high/', '/pci/high/deep/', '/pcix/', '/pii/', '/general/low/'];
const WORDS = ['x', 'X', 'x y', '', '1234', "'; DROP TABLE tokens; --", '😀', '*', '/'];
const KEYS = ['env', 'Env', 'a b', 'a:b'];
const FINGERPRINTS = ['f1', 'f2', 'f3'].map((name) => createHash('sha256').update(name).digest('hex'));
const IDS = ['tok_1', 'tok_2', 'alias_1', PEOPLE[0] ?? ''];

const word = fc.constantFrom(...WORDS);
const pathWanted = fc.constantFrom(...CONTAINERS, '/', '/pci', '/PCI/', '/none/');
const instant = fc.integer({ min: -4, max: 4 }).map((days) => SEARCH_NOON_MS + days * DAY_MS);
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

export const tokenArbitrary: fc.Arbitrary<PlainToken> = fc.record({
  id: fc.oneof(fc.constantFrom(...IDS), fc.uuid({ version: 4 })),
  type: fc.constantFrom(...TYPES),
  containers: fc.uniqueArray(fc.constantFrom(...CONTAINERS), { minLength: 1, maxLength: 3 }),
  metadata: fc.dictionary(fc.constantFrom(...KEYS), word, { maxKeys: 2 }),
  indexes: fc.uniqueArray(
    word.filter((each) => each !== ''),
    { maxLength: 2 },
  ),
  createdAtMs: instant,
  createdBy: nullable(fc.constantFrom(...PEOPLE)),
  modifiedBy: nullable(fc.constantFrom(...PEOPLE)),
  modifiedAtMs: nullable(instant),
  expiresAtMs: nullable(fc.constantFrom(SEARCH_NOON_MS - 1, SEARCH_NOON_MS, SEARCH_NOON_MS + 1)),
  fingerprint: nullable(fc.constantFrom(...FINGERPRINTS)),
});

const leafArbitrary: fc.Arbitrary<Query> = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    at: fc.constant(1),
    field: fc.constantFrom('created_by' as const, 'modified_by' as const),
    value: fc.constantFrom(...PEOPLE, 'ABCDEF01-2345-4678-9ABC-DEF012345678', 'nobody'),
  }),
  text('id', fc.constantFrom(...IDS, 'TOK_1', "it's")),
  text('type', fc.constantFrom(...TYPES, 'Card')),
  text('fingerprint', fc.constantFrom(...FINGERPRINTS, 'nonsense')),
  text('container', fc.oneof(pathWanted, fc.constantFrom('*', '/pci*', '/pci/*', '/P*', '/none*'))),
  text('data', word),
  fc.record({
    kind: fc.constant('metadata' as const),
    at: fc.constant(1),
    key: fc.constantFrom(...KEYS),
    value: word,
  }),
  fc.record({
    kind: fc.constant('dates' as const),
    at: fc.constant(1),
    field: fc.constantFrom('created_at' as const, 'modified_at' as const),
    fromMs: fc.option(instant, { nil: undefined }),
    beforeMs: fc.option(instant, { nil: undefined }),
  }),
);

function text(field: Extract<Query, { kind: 'text' }>['field'], value: fc.Arbitrary<string>): fc.Arbitrary<Query> {
  return value.map((each) => ({ kind: 'text', at: 1, field, value: each }));
}

export const queryArbitrary: fc.Arbitrary<Query> = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { arbitrary: leafArbitrary, weight: 3 },
    {
      arbitrary: fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        parts: fc.array(tie('query'), { minLength: 2, maxLength: 3 }),
      }),
      weight: 2,
    },
    { arbitrary: tie('query').map((part): Query => ({ kind: 'not', part })), weight: 1 },
  ),
})).query;

export const filtersArbitrary: fc.Arbitrary<Filters> = fc.record(
  {
    ids: fc.array(fc.constantFrom(...IDS, 'missing'), { minLength: 1, maxLength: 3 }),
    types: fc.array(fc.constantFrom(...TYPES, 'Card'), { minLength: 1, maxLength: 2 }),
    containers: fc.array(pathWanted, { minLength: 1, maxLength: 2 }),
    metadata: fc.array(fc.tuple(fc.constantFrom(...KEYS), word), { maxLength: 2 }),
    fingerprint: fc.constantFrom(...FINGERPRINTS, 'nonsense'),
  },
  { requiredKeys: [] },
);

const PERMISSIONS: readonly Permission[] = ['token:read', 'token:search', 'token:use'];

const ruleConditionArbitrary: fc.Arbitrary<RuleCondition> = fc.oneof(
  fc.record({
    attribute: fc.constant('id' as const),
    operator: fc.constantFrom('equals' as const, 'starts_with' as const),
    value: fc.constantFrom('tok_', 'tok_1', 'a', '1'),
  }),
  fc.record({
    attribute: fc.constant('container' as const),
    operator: fc.constantFrom('equals' as const, 'starts_with' as const),
    value: pathWanted,
  }),
);

const ruleArbitrary: fc.Arbitrary<Rule> = fc
  .record({
    container: fc.option(pathWanted, { nil: undefined }),
    conditions: fc.array(ruleConditionArbitrary, { maxLength: 2 }),
    permissions: fc.subarray([...PERMISSIONS], { minLength: 1 }),
    transform: fc.constantFrom('reveal' as const, 'mask' as const, 'redact' as const),
  })
  .map(({ container, conditions, permissions, transform }) => ({
    description: undefined,
    priority: 1,
    container,
    conditions: container === undefined ? conditions : undefined,
    transform,
    permissions,
  }));

/** An Application has one set of grants, a session two. */
export const principalArbitrary: fc.Arbitrary<Principal> = fc
  .array(
    fc.record({
      permissions: fc
        .oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray([...PERMISSIONS]) })
        .map((given) => new Set<Permission>(given)),
      rules: fc.array(ruleArbitrary, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((grants) => principalWith(grants));

export function principalWith(grants: Principal['grants']): Principal {
  return {
    kind: 'application',
    tenantId: 'unused',
    keyId: 'unused',
    applicationId: 'unused',
    applicationType: 'private',
    actor: { type: 'application', id: 'unused' },
    permissions: new Set(PERMISSIONS),
    grants,
  };
}

/** Sees everything. */
export const PLAIN_PRINCIPAL = principalWith([{ permissions: new Set(PERMISSIONS), rules: [] }]);

/** Keys that need no database. */
export function keysOf(seed: string): TenantKeys {
  const key = (kind: string) => createSecretKey(createHash('sha256').update(`${seed} ${kind}`).digest());
  return {
    tenantId: seed,
    encryption: { currentVersion: 1, byVersion: new Map([[1, key('encryption')]]) },
    fingerprint: key('fingerprint'),
    index: key('index'),
  };
}

export function readFingerprint(shown: string): Buffer | undefined {
  return /^[0-9a-f]{64}$/.test(shown) ? Buffer.from(shown, 'hex') : undefined;
}

/** The directory that goes with these tokens. */
export function directoryOf(tokens: readonly PlainToken[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { type, containers } of tokens) {
    const id = groupIdOf(type, containers);
    groups.set(id, { id, type, containers, count: (groups.get(id)?.count ?? 0) + 1 });
  }
  return [...groups.values()];
}
