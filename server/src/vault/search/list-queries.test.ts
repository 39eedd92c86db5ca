// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Principal } from '../../access/principal.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { tieOf } from '../stored/names.js';
import type { FoundRow } from '../stored/row.js';
import type { Filters } from './build.js';
import type { Page } from './list-queries.js';
import { countTokens, findTokens } from './list-queries.js';
import { compareForList, isLive, maySee, meets, meetsFilters, shownOf } from './naive-fixture.js';
import type { Query } from './parse.js';
import { parseQuery } from './parse.js';
import { resolveAsk } from './resolve.js';
import type { PlainToken } from './search-fixture.js';
import {
  filtersArbitrary,
  PLAIN_PRINCIPAL,
  principalArbitrary,
  queryArbitrary,
  readFingerprint,
  SEARCH_NOON_MS,
  tokenArbitrary,
} from './search-fixture.js';
import { storeTestTokens } from './stored-fixture.js';

const TOKENS = 250;
const PERMISSION = 'token:search';
const LEAST = { fingerprint: 'reveal', data: 'mask' } as const;

interface Wanted {
  readonly principal: Principal;
  readonly query: Query;
  readonly filters: Filters;
  readonly includesChildren: boolean;
  /** How many times more tokens the planner is made to believe in: it brings out plans that a small table never gets. */
  readonly believed: number;
}

const wantedArbitrary: fc.Arbitrary<Wanted> = fc.record({
  principal: fc.oneof(fc.constant(PLAIN_PRINCIPAL), principalArbitrary),
  query: fc.oneof(fc.constant<Query>({ kind: 'all' }), queryArbitrary),
  filters: fc.oneof(fc.constant({}), filtersArbitrary),
  includesChildren: fc.boolean(),
  believed: fc.constantFrom(1, 1_000_000),
});

describe('finding stored tokens', () => {
  let app: TestApp;
  let tenantId: string;
  let keys: TenantKeys;
  let tokens: PlainToken[];

  before(async () => {
    app = await startTestApp({ clock: createFakeClock(SEARCH_NOON_MS) });
    tenantId = (await app.makeTenant()).id;
    keys = await app.keyStore.keyring.forTenant(tenantId);
    tokens =
      fc.sample(fc.uniqueArray(tokenArbitrary, { minLength: TOKENS, maxLength: TOKENS, selector: (t) => t.id }), {
        numRuns: 1,
        seed: 7,
      })[0] ?? [];
    await storeTestTokens(app.db.owner, tenantId, keys, tokens);
    // Everything about the neighbour's tokens is the same but the tenant, keyed hashes included.
    const neighbour = await app.makeTenant();
    await storeTestTokens(app.db.owner, neighbour.id, keys, tokens.slice(0, 100).map(renamed));
  });
  after(() => app.close());

  const renamed = (token: PlainToken, n: number): PlainToken => ({
    ...token,
    id: n % 2 === 0 ? token.id : `other-${n}`,
  });

  /** Page and total as the product gives them. */
  async function ask(wanted: Wanted, page: Page): Promise<{ rows: FoundRow[]; total: number }> {
    return app.database.read(tenantId, async (tx) => {
      const resolved = await resolveAsk(tx, { ...wanted, keys, permission: PERMISSION, readFingerprint, least: LEAST });
      const directory = resolved.directory?.map((group) => ({ ...group, count: group.count * wanted.believed }));
      const search = { ...resolved, directory, nowMs: SEARCH_NOON_MS };
      const [rows, total] = await Promise.all([findTokens(tx, { ...search, ...page }), countTokens(tx, search)]);
      return { rows, total };
    });
  }

  function expectedOf({ principal, query, filters, includesChildren }: Wanted): PlainToken[] {
    const canBeFound = (token: PlainToken, by: 'fingerprint' | 'data'): boolean => {
      const shown = shownOf(token, principal, PERMISSION);
      return shown === 'reveal' || shown === LEAST[by];
    };
    return tokens
      .filter((token) => isLive(token, SEARCH_NOON_MS) && maySee(token, principal, PERMISSION))
      .filter(
        (token) =>
          meets(token, query, includesChildren, canBeFound) &&
          meetsFilters(token, filters, includesChildren, canBeFound),
      )
      .sort(compareForList);
  }

  const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
  const searching = (text: string): Wanted => ({
    principal: PLAIN_PRINCIPAL,
    query: parseQuery(text),
    filters: {},
    includesChildren: false,
    believed: 1,
  });

  it('gives the tokens a naive reading gives, in order, and their exact number, whatever is asked by whom', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(wantedArbitrary, fc.integer({ min: 1, max: 30 }), fc.nat(40), async (wanted, limit, offset) => {
        const expected = expectedOf(wanted);
        const { rows, total } = await ask(wanted, { limit, offset });
        assert.deepEqual(idsOf(rows), idsOf(expected.slice(offset, offset + limit)));
        assert.equal(total, expected.length);
        found += rows.length;
      }),
      { numRuns: 2_500 },
    );
    assert.ok(found > 1_000, 'the searches find something');
  });

  it('gives each token once when cursors are followed to the end', async () => {
    await fc.assert(
      fc.asyncProperty(wantedArbitrary, fc.integer({ min: 7, max: 60 }), async (wanted, limit) => {
        const walked: string[] = [];
        let after: Page['after'];
        for (;;) {
          const { rows } = await ask(wanted, { limit, after });
          walked.push(...idsOf(rows));
          const last = rows.at(-1);
          if (rows.length < limit || last === undefined) break;
          after = { createdAtMs: last.created_at.getTime(), tie: last.tie };
        }
        assert.deepEqual(walked, idsOf(expectedOf(wanted)));
      }),
      { numRuns: 300 },
    );
  });

  it('gives whole rows', async () => {
    const [token] = expectedOf(searching(''));
    assert.ok(token);
    const { rows } = await ask(searching(''), { limit: 1 });
    const [row] = rows;
    assert.ok(row);
    assert.deepEqual([row.tenant_id, row.id, row.type, row.tie], [tenantId, token.id, token.type, tieOf(token.id)]);
    assert.deepEqual([row.created_at.getTime(), row.data_version, row.sealed?.length], [token.createdAtMs, 1, 32]);
  });

  it('takes whatever is searched for as a value, never as part of a statement', async () => {
    const attacks = [
      "'; DROP TABLE tokens; --",
      '$1',
      '" OR 1=1',
      '%',
      '_',
      '\\',
      '{a,b}',
      '{"a"',
      'null',
      '\u202e',
      '\uffff',
    ];
    for (const attack of attacks) {
      const value = `"${attack.replaceAll(/["\\]/g, '\\$&')}"`;
      for (const field of ['id', 'type', 'data', 'container', 'fingerprint', 'created_by', 'metadata.k']) {
        const wanted = searching(`${field}:${value}`);
        const { rows, total } = await ask({ ...wanted, believed: 1_000_000 }, { limit: 5 });
        assert.deepEqual([idsOf(rows), total], [idsOf(expectedOf(wanted).slice(0, 5)), expectedOf(wanted).length]);
      }
    }
  });

  it('finds nothing for ids that no token can have', async () => {
    const [known] = expectedOf(searching(''));
    const filters = { ids: ['a\u0000b', '\ud800', known?.id ?? ''] };
    const { rows, total } = await ask({ ...searching(''), filters }, { limit: 5 });
    assert.deepEqual([idsOf(rows), total], [[known?.id], 1]);
  });

  it('answers for dates at the ends of the calendar and pages far past the last', async () => {
    const everything = searching('created_at:[0001-01-01 TO 9999-12-31]');
    const { rows, total } = await ask(everything, { limit: 5, offset: 2_147_483_646 * 100 });
    assert.deepEqual([rows, total], [[], expectedOf(everything).length]);
  });

  it('answers for the largest search there can be', async () => {
    const text = Array.from({ length: 25 }, (_, n) => `${n % 3 === 0 ? '-' : ''}data:${n}`).join(' OR ');
    for (const operator of [' OR ', ' AND ']) {
      const wanted = { ...searching(text.replaceAll(' OR ', operator)), believed: 1_000_000 };
      const { total } = await ask(wanted, { limit: 5 });
      assert.equal(total, expectedOf(wanted).length);
    }
  });

  it('keeps few prepared statements, however many shapes were searched for', async () => {
    const names = new Set<string>();
    const texts = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(wantedArbitrary, fc.boolean(), async (wanted, isAfter) => {
        await app.database.read(tenantId, async (tx) => {
          const resolved = await resolveAsk(tx, {
            ...wanted,
            keys,
            permission: PERMISSION,
            readFingerprint,
            least: LEAST,
          });
          const spy: typeof tx = {
            ...tx,
            async run(statement) {
              if (statement.name !== '') names.add(statement.name);
              assert.equal(texts.get(statement.name || statement.text) ?? statement.text, statement.text);
              texts.set(statement.name || statement.text, statement.text);
              return [];
            },
          };
          const after = isAfter ? { createdAtMs: SEARCH_NOON_MS, tie: tieOf('x') } : undefined;
          await findTokens(spy, { ...resolved, nowMs: SEARCH_NOON_MS, limit: 5, after });
          await countTokens(spy, { ...resolved, nowMs: SEARCH_NOON_MS });
        });
      }),
      { numRuns: 1_000 },
    );
    assert.ok(texts.size > 100, 'many shapes');
    assert.ok(names.size > 5 && names.size < 100, `${names.size} names`);
    for (const text of texts.values()) {
      assert.equal(
        text.match(/\b(?:tokens|token_terms|token_groups)\b/g)?.length,
        text.match(/tenant_id = \$1/g)?.length,
      );
    }
  });
});
