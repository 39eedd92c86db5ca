import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SearchCondition } from './condition.js';
import { ALL, both, either, groupsCondition, idsCondition } from './condition.js';
import type { Statistics } from './plan.js';
import { planFor } from './plan.js';

const PAGE = 21;
const term = (name: string): SearchCondition => ({ kind: 'term', term: Buffer.from(name) });
const creator: SearchCondition = { kind: 'createdBy', id: 'x' };
const recent: SearchCondition = { kind: 'createdAt', fromMs: 1, beforeMs: undefined };
const notTerm: SearchCondition = { kind: 'not', leaf: { kind: 'ids', ids: ['x'] } };

function knowing(counts: Readonly<Record<string, number>>, terms: Readonly<Record<string, number>> = {}): Statistics {
  return {
    directory: Object.entries(counts).map(([id, count]) => ({ id, type: 'card', containers: ['/'], count })),
    termRows: new Map(Object.entries(terms).map(([name, rows]) => [Buffer.from(name).toString('hex'), rows])),
  };
}

const UNKNOWN: Statistics = { directory: undefined, termRows: new Map() };

/** The kinds of driver, and what is left to ask. */
function sketch(condition: SearchCondition, statistics: Statistics, wanted = PAGE): string {
  const { drivers, window, rest } = planFor(condition, statistics, wanted);
  const by = drivers.map((driver) => `${driver.by} ${driver.keys.length}`).join(' + ') || 'time';
  return `${by}${window.length > 0 ? ' in window' : ''}, rest ${rest.kind}`;
}

describe('a plan', () => {
  const million = { a: 1_000_000, b: 1_000_000, c: 10 };

  it('goes by what an index finds, and asks the rest of each token', () => {
    for (const [condition, expected] of [
      [ALL, 'time, rest all'],
      [recent, 'time in window, rest all'],
      [creator, 'time, rest createdBy'],
      [notTerm, 'time, rest not'],
      [idsCondition(['x', 'y']), 'ids 2, rest all'],
      [term('t'), 'terms 1, rest all'],
      [both([term('t'), recent]), 'terms 1 in window, rest all'],
      [both([term('t'), creator]), 'terms 1, rest createdBy'],
      [both([term('t'), idsCondition(['x'])]), 'ids 1, rest term'],
      [either([term('t'), term('u')]), 'terms 2, rest or'],
      [either([term('t'), term('t')]), 'terms 1, rest or'],
      [either([term('t'), idsCondition(['x'])]), 'ids 1 + terms 1, rest or'],
      [either([term('t'), creator]), 'time, rest or'],
      [both([either([term('t'), term('u')]), creator]), 'terms 2, rest and'],
      [either([both([term('t'), creator]), idsCondition(['x'])]), 'ids 1 + terms 1, rest or'],
    ] as const) {
      for (const statistics of [UNKNOWN, knowing(million)]) assert.equal(sketch(condition, statistics), expected);
    }
  });

  it('looks into groups by themselves, unless fewer tokens have to be skipped by time', () => {
    assert.equal(sketch(groupsCondition(['c']), knowing(million)), 'groups 1, rest all');
    assert.equal(sketch(groupsCondition(['a']), knowing(million)), 'groups 1, rest all');
    assert.equal(sketch(groupsCondition(['a', 'b']), knowing(million)), 'time, rest groups');
    assert.equal(sketch(groupsCondition(['a', 'b', 'c']), knowing(million)), 'time, rest groups');
  });

  it('does not go through millions for somebody who sees many small groups', () => {
    const small = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`g${n}`, 3]));
    const sees = groupsCondition(Object.keys(small));
    assert.equal(sketch(sees, knowing({ ...small, a: 10_000_000 })), 'groups 1000, rest all');
    assert.equal(sketch(sees, knowing({ ...small, a: 100 })), 'time, rest groups');
  });

  it('takes the rarer of two things that must both hold', () => {
    const terms = { rare: 3, many: 1_500, common: 2_000 };
    const [rare, many, common] = [term('rare'), term('many'), term('common')];
    for (const pair of [
      [rare, common],
      [common, rare],
    ]) {
      const { drivers } = planFor(both(pair), knowing(million, terms), PAGE);
      assert.deepEqual(drivers[0]?.keys, [Buffer.from('rare')]);
    }
    assert.equal(sketch(both([groupsCondition(['a']), many]), knowing(million, terms)), 'terms 1, rest groups');
    assert.equal(sketch(both([groupsCondition(['c']), many]), knowing(million, terms)), 'groups 1, rest term');
    assert.equal(sketch(both([groupsCondition(['a']), common]), knowing(million, terms)), 'terms 1, rest groups');
    const fewer = { a: 1_000_000, b: 100_000 };
    assert.equal(sketch(both([groupsCondition(['b']), common]), knowing(fewer, terms)), 'groups 1, rest term');
    assert.equal(
      sketch(both([term('x'), common]), { ...UNKNOWN, termRows: knowing({}, terms).termRows }),
      'terms 1, rest term',
    );
  });
});
