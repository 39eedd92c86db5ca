import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitName } from './catalogue.js';
import { LIMITS, scopesOf } from './catalogue.js';
import { WINDOW_MS } from './window.js';

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

test('the limits of a route are global first, then portal, then its own, and the arrays cannot be changed', () => {
  const namesOf = (names: readonly LimitName[]) => {
    const { api, portal } = scopesOf(names);
    assert.ok(Object.isFrozen(api) && Object.isFrozen(portal));
    return [api, portal].map((rows) => rows.map(({ name }) => name).join(' '));
  };
  assert.deepEqual(namesOf([]), ['global', 'global portal']);
  assert.deepEqual(namesOf(['tokens-list']), ['global tokens-list', 'global portal tokens-list']);
  assert.deepEqual(namesOf(['tokens-list', 'portal']), Array(2).fill('global portal tokens-list'));
  assert.deepEqual(namesOf(['portal', 'global']), Array(2).fill('global portal'));
});
