import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LIMITS, scopesOf } from './catalogue.js';
import { WINDOW_MS } from './window.js';

function namesOf(method: string, pathname: string, isPortal = false): string {
  return scopesOf(method, pathname, isPortal)
    .map((row) => row.name)
    .join(' ');
}

function assertScopes(expected: string, method: string, paths: readonly string[], isPortal = false): void {
  for (const path of paths) assert.equal(namesOf(method, path, isPortal), expected, `${method} ${path}`);
}

test('the five limits are the specified ones', () => {
  const table = Object.values(LIMITS).map((row) => [row.name, row.requests, row.windowMs, row.blockMs]);
  assert.deepEqual(table, [
    ['global', 1000, 10_000, 10_000],
    ['portal', 600, 10_000, 10_000],
    ['tokens-search', 50, 10_000, 10_000],
    ['tokens-list', 100, 10_000, 10_000],
    ['tokens-create', 200, 10_000, 10_000],
  ]);
});

test('counters can tell the limits apart and hold their counts', () => {
  const rows = Object.values(LIMITS);
  assert.equal(new Set(rows.map((row) => row.ordinal)).size, rows.length);
  for (const row of rows) {
    assert.equal(row.windowMs, WINDOW_MS);
    assert.ok(row.requests > 0 && row.requests < 2 ** 16);
  }
});

test('creating, listing and searching tokens count in a limit of their own, with and without a trailing slash', () => {
  assertScopes('global tokens-create', 'POST', ['/tokens', '/tokens/', '/v2/tokens', '/tokenize', '/tokenize/']);
  assertScopes('global tokens-list', 'GET', ['/tokens', '/tokens/', '/v2/tokens', '/v2/tokens/']);
  assertScopes('global tokens-list', 'HEAD', ['/tokens', '/tokens/', '/v2/tokens']);
  assertScopes('global tokens-search', 'POST', ['/tokens/search', '/tokens/search/', '/v2/tokens/search']);
});

test('every other method and path counts in global alone', () => {
  assertScopes('global', 'GET', ['/', '', '*', '/logs', '/tokens/abc', '/tokens/search', '/tokenize', '/tokensx']);
  assertScopes('global', 'POST', ['/detokenize', '/tokens/abc', '/v2/tokenize', '/v2', '/tokens/search/x']);
  assertScopes('global', 'DELETE', ['/tokens', '/tokens/search']);
  assertScopes('global', 'OPTIONS', ['/tokens']);
  assertScopes('global', 'get', ['/tokens']);
});

test('paths that the router does not take for the route do not count as it', () => {
  assertScopes('global', 'GET', ['//tokens', '/tokens//', '/v2//tokens', '/Tokens', '/TOKENS', 'tokens', '/./tokens']);
  assertScopes('global', 'POST', ['/tokens%2Fsearch', '/tokens%2fsearch', '/tokens//search', '/%2574okens']);
});

test('percent-encoding, a fragment or a query does not get around a limit', () => {
  assertScopes('global tokens-list', 'GET', ['/%74okens', '/%74%6f%6B%65%6e%73/', '/tokens#x', '/%74okens#%zz']);
  assertScopes('global tokens-list', 'GET', ['/tokens?size=5', '/tokens/?size=5', '/tokens#?x', '/tokens?x=%']);
  assertScopes('global tokens-search', 'POST', ['/tokens/%73earch', '/v2/%74okens/search/']);
  assertScopes('global portal', 'GET', ['/%70ortal', '/%70ortal/x', '/portal#x']);
});

test('malformed encoding counts in global alone', () => {
  assertScopes('global', 'GET', ['/%', '/tokens%', '/%7', '/%zz', '/%ff', '/portal/%c3']);
});

test('the pages of the Portal count in portal, and so does the API when a cookie stands in for a key', () => {
  assertScopes('global portal', 'GET', ['/portal', '/portal/', '/portal/login', '/portal//x']);
  assertScopes('global portal', 'POST', ['/portal/sessions']);
  assertScopes('global', 'GET', ['/portals', '/portal-x', '/x/portal', '/Portal']);
  assertScopes('global portal', 'GET', ['/logs', '/tokens/abc'], true);
  assertScopes('global portal tokens-list', 'GET', ['/tokens'], true);
  assertScopes('global portal tokens-create', 'POST', ['/tokens'], true);
});

test('no path makes it throw, global always comes first, and the arrays are shared and frozen', () => {
  const methods = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'BREW');
  const characters = fc.constantFrom(...'/%tokensrcha24f5#?. é');
  const paths = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(characters).map((parts) => `/${parts.join('')}`),
  );
  fc.assert(
    fc.property(methods, paths, fc.boolean(), (method, path, isPortal) => {
      const rows = scopesOf(method, path, isPortal);
      assert.equal(rows[0], LIMITS.global);
      assert.ok(Object.isFrozen(rows));
      assert.equal(scopesOf(method, path, isPortal), rows);
    }),
    { numRuns: 2_000 },
  );
});
