import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../kernel/json.js';
import { createBudget } from './budget.js';
import { evaluateText, filtered, refusal } from './expressions-fixture.js';
import { parseJsonPath } from './json-path.js';
import { findOne } from './json-path-walk.js';

const STORE: Json = {
  a: [{ p: 5 }, { p: 9 }],
  list: [10, 20, 30, 40, 50],
  o: { 'a b': 1, "it's": 2, 'x.y': 3, ünï: 4, 'd-e': 5, $f: 6 },
  nested: { deep: { id: 'one' } },
  flags: [
    { on: true, n: 'x' },
    { on: false, n: 'y' },
    { n: 'z', v: null },
  ],
  min: 20,
};

function find(path: string, root: unknown = STORE): unknown {
  return findOne(root, parseJsonPath(path), createBudget());
}

describe('JSONPath', () => {
  it('finds one value by every kind of step', () => {
    const found: Readonly<Record<string, unknown>> = {
      '$.a[?(@.p < 6)].p': 5,
      '$.a[0].p': 5,
      '$.a[-1].p': 9,
      "$['a'][1]['p']": 9,
      "$.o['a b']": 1,
      "$.o['it\\'s']": 2,
      '$.o["x.y"]': 3,
      '$.o.ünï': 4,
      '$.o.d-e': 5,
      '$.o.$f': 6,
      '$..id': 'one',
      '$..deep.id': 'one',
      "$..['deep']['id']": 'one',
      '$.nested.*.id': 'one',
      '$.nested[*].id': 'one',
      '$.list[1:2]': 20,
      '$.list[-1:]': 50,
      '$.list[:1]': 10,
      '$.list[4::2]': 50,
      '$.list[0:5:9]': 10,
      '$.list[0::-1]': 10,
      "$['none','min']": 20,
      '$.list[ 9 , 1 ]': 20,
    };
    for (const [path, value] of Object.entries(found)) assert.deepEqual(find(path), value, path);
  });

  it('tests members by comparison, existence and their combinations', () => {
    const found: Readonly<Record<string, unknown>> = {
      "$.flags[?(@.n == 'y')].on": false,
      '$.flags[?(@.on == true)].n': 'x',
      '$.flags[?(!@.on)].n': 'z',
      '$.flags[?(@.v)].n': 'z',
      '$.flags[?(@.v == null)].n': 'z',
      '$.flags[?@.on && @.n != "x"].n': 'y',
      "$.flags[?(@.n == 'x' && @.on == false || @.n >= 'z')].n": 'z',
      "$.flags[?(!(@.n == 'x' || @.n == 'y'))].n": 'z',
      '$.list[?(@ > 40)]': 50,
      '$.list[?(@ == $.min)]': 20,
      '$.list[?(@ <= 10)]': 10,
      '$.list[?(50 <= @)]': 50,
      '$.a[?(@.p >= 9)].p': 9,
      '$.a[?(@.p < -1.5e1 || @.p == 9)].p': 9,
      '$..[?(@.id)].id': 'one',
      '$.nested[?(@.id == "one")].id': 'one',
    };
    for (const [path, value] of Object.entries(found)) assert.deepEqual(find(path), value, path);
  });

  it('gives null for nothing found, and a null that is there', () => {
    for (const path of ['$.none', '$.a[9]', '$.list[-9]', '$.list.x', '$.min.x', '$.a[?(@.p > 99)]', '$.list[5:]']) {
      assert.equal(find(path), null, path);
    }
    assert.equal(find('$.flags[2].v'), null);
    assert.deepEqual(find('$'), STORE);
  });

  it('refuses several results, and says so', () => {
    for (const path of ['$.a[*].p', '$..p', '$.list[1:3]', '$.*', "$['min','list']", '$.list[?(@ > 10)]']) {
      assert.match(
        refusal(() => find(path)),
        /several/,
        path,
      );
    }
  });

  it('refuses what is no path, regular expressions, functions and scripts', () => {
    const wrong = [
      '',
      'a',
      '$.',
      '$..',
      '$[',
      '$[]',
      "$['a",
      '$.a[?(',
      '$.a[?(@.p <)]',
      '$.a[?(1)]',
      '$.a b',
      '$[1:2:0]',
    ];
    wrong.push('$.a[?(@.n =~ /x/)]', '$.a[?(length(@) > 1)]', '$.a[(@.length-1)]', '$.a[?(@.p == process)]', '$.[0]');
    wrong.push(`$[?${'('.repeat(200)}`, `$[?${'!'.repeat(200)}@]`, '$[1.5]');
    for (const path of wrong) refusal(() => find(path));
  });

  it('sees own members only', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'length']) {
      assert.equal(find(`$.${name}`), null, name);
      assert.equal(find(`$.list.${name}`), null, name);
      assert.equal(find(`$.list['${name}']`), null, name);
    }
    const own = JSON.parse('{"__proto__":{"x":1}}');
    assert.equal(find('$.__proto__.x', own), 1);
  });

  it('compares whole objects and lists by what they hold', () => {
    const root = { want: { k: [1, 2] }, all: [{ v: { k: [1] } }, { v: { k: [1, 2] }, hit: true }] };
    assert.equal(find('$.all[?(@.v == $.want)].hit', root), true);
  });

  it('is the filter json, which needs a path', () => {
    assert.equal(filtered(STORE, "json: '$.a[?(@.p < 6)].p'"), 5);
    assert.deepEqual(filtered(STORE, "json: '$.nested.deep'"), { id: 'one' });
    assert.equal(evaluateText('{{ data | json: metadata.path }}', STORE, { metadata: { path: '$.min' } }), 20);
  });
});
