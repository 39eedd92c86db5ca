import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { groupIdOf } from '../stored/names.js';
import { dataTerm, metadataTerm } from '../stored/terms.js';
import { conditionOfFilters, conditionOfQuery } from './build.js';
import type { SearchCondition } from './condition.js';
import { ALL, both, either, groupsCondition } from './condition.js';
import { maySee, meets, meetsFilters, shownOf } from './naive-fixture.js';
import type { PlainToken } from './search-fixture.js';
import {
  directoryOf,
  filtersArbitrary,
  keysOf,
  principalArbitrary,
  principalWith,
  queryArbitrary,
  readFingerprint,
  tokenArbitrary,
} from './search-fixture.js';
import { asksDirectory, shownTo } from './shown.js';
import { seesAll, visibleTo } from './visibility.js';

const keys = keysOf('tenant');
const tokensArbitrary = fc.array(tokenArbitrary, { maxLength: 30 });

function holds(condition: SearchCondition, token: PlainToken): boolean {
  switch (condition.kind) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'and':
      return condition.parts.every((part) => holds(part, token));
    case 'or':
      return condition.parts.some((part) => holds(part, token));
    case 'not':
      return !holds(condition.leaf, token);
    case 'ids':
      return condition.ids.includes(token.id);
    case 'idPrefix':
      return token.id.startsWith(condition.prefix);
    case 'groups':
      return condition.groupIds.includes(groupIdOf(token.type, token.containers));
    case 'fingerprint':
      return token.fingerprint === condition.fingerprint.toString('hex');
    case 'term': {
      const own = [
        ...token.indexes.map((value) => dataTerm(keys, value)),
        ...Object.entries(token.metadata).map(([key, value]) => metadataTerm(keys, key, value)),
      ];
      return own.some((term) => term.equals(condition.term));
    }
    case 'createdBy':
      return token.createdBy === condition.id;
    case 'modifiedBy':
      return token.modifiedBy === condition.id;
    case 'createdAt':
    case 'modifiedAt': {
      const ms = condition.kind === 'createdAt' ? token.createdAtMs : token.modifiedAtMs;
      return ms !== null && ms >= (condition.fromMs ?? -Infinity) && ms < (condition.beforeMs ?? Infinity);
    }
  }
}

/** Constants and single parts are gone, and no list of groups or ids is empty. */
function assertSimple(condition: SearchCondition, isInside = false): void {
  if (isInside) assert.ok(condition.kind !== 'all' && condition.kind !== 'none');
  if (condition.kind === 'groups') assert.ok(condition.groupIds.length > 0);
  if (condition.kind !== 'and' && condition.kind !== 'or') return;
  assert.ok(condition.parts.length > 1);
  for (const kind of ['groups', 'ids', condition.kind]) {
    assert.ok(condition.parts.filter((part) => part.kind === kind).length <= (kind === condition.kind ? 0 : 1));
  }
  for (const part of condition.parts) assertSimple(part, true);
}

const SHOWN = { fingerprint: ALL, data: ALL };

describe('conditions', () => {
  it('of a search mean what it says, token by token, with and without children', () => {
    fc.assert(
      fc.property(tokensArbitrary, queryArbitrary, fc.boolean(), (tokens, query, includesChildren) => {
        const words = { keys, directory: directoryOf(tokens), includesChildren, readFingerprint, shown: SHOWN };
        const condition = conditionOfQuery(query, words);
        assertSimple(condition);
        for (const token of tokens) assert.equal(holds(condition, token), meets(token, query, includesChildren));
      }),
      { numRuns: 2_000 },
    );
  });

  it('of list filters mean what they say, token by token', () => {
    fc.assert(
      fc.property(tokensArbitrary, filtersArbitrary, fc.boolean(), (tokens, filters, includesChildren) => {
        const words = { keys, directory: directoryOf(tokens), includesChildren, readFingerprint, shown: SHOWN };
        const condition = conditionOfFilters(filters, words);
        assertSimple(condition);
        for (const token of tokens) {
          assert.equal(holds(condition, token), meetsFilters(token, filters, includesChildren));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('of visibility let through what the rules grant and nothing else, for applications and sessions', () => {
    fc.assert(
      fc.property(tokensArbitrary, principalArbitrary, (tokens, principal) => {
        const condition = visibleTo(principal, 'token:search', directoryOf(tokens));
        assertSimple(condition);
        for (const token of tokens) assert.equal(holds(condition, token), maySee(token, principal, 'token:search'));
        if (seesAll(principal, 'token:search')) assert.equal(condition.kind, 'all');
      }),
      { numRuns: 2_000 },
    );
  });

  it('of what is shown let through what enough is shown of and nothing else, and so do searches by it', () => {
    fc.assert(
      fc.property(
        tokensArbitrary,
        principalArbitrary,
        queryArbitrary,
        fc.constantFrom('mask' as const, 'reveal' as const),
        (tokens, principal, query, least) => {
          const directory = directoryOf(tokens);
          const needs = asksDirectory(principal, 'token:search', least);
          const shown = shownTo(principal, 'token:search', least, needs ? directory : []);
          assertSimple(shown);
          const isShown = (token: PlainToken): boolean => {
            const transform = shownOf(token, principal, 'token:search');
            return transform === 'reveal' || (transform === 'mask' && least === 'mask');
          };
          const words = {
            keys,
            directory,
            includesChildren: false,
            readFingerprint,
            shown: { fingerprint: shown, data: shown },
          };
          const condition = conditionOfQuery(query, words);
          assertSimple(condition);
          for (const token of tokens.filter((each) => maySee(each, principal, 'token:search'))) {
            assert.equal(holds(shown, token), isShown(token));
            assert.equal(holds(condition, token), meets(token, query, false, isShown));
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('keep a caller with rules to the groups that were looked at, even if those are all there are', () => {
    const token = fc.sample(tokenArbitrary, 1).map((each) => ({ ...each, type: 'card', containers: ['/pci/'] }));
    const directory = directoryOf(token);
    const rule = { description: undefined, priority: 1, conditions: undefined, transform: 'mask' } as const;
    const ruled = (container: string) =>
      principalWith([{ permissions: new Set(), rules: [{ ...rule, container, permissions: ['token:read'] }] }]);
    assert.equal(visibleTo(ruled('/pci/'), 'token:read', directory).kind, 'groups');
    assert.equal(visibleTo(ruled('/'), 'token:read', directory).kind, 'all');
    assert.equal(visibleTo(ruled('/'), 'token:search', directory).kind, 'none');
    const words = { keys, directory, includesChildren: false, readFingerprint, shown: SHOWN };
    const notBank = { kind: 'not', part: { kind: 'text', at: 1, field: 'type', value: 'bank' } } as const;
    assert.equal(conditionOfQuery(notBank, words).kind, 'groups');
  });

  it('let nobody see anything who was granted nothing', () => {
    assert.equal(visibleTo(principalWith([]), 'token:read', []).kind, 'none');
    assert.equal(visibleTo(principalWith([{ permissions: new Set(), rules: [] }]), 'token:read', []).kind, 'none');
  });

  it('fold sets of groups into one, and into nothing where they do not meet', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => groupsCondition([id]));
    assert.ok(a && b && c);
    assert.deepEqual(either([a, either([b, c])]), groupsCondition(['a', 'b', 'c']));
    assert.deepEqual(both([a, b]), { kind: 'none' });
    assert.deepEqual(both([either([a, b]), either([b, c])]), groupsCondition(['b']));
  });
});
