import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';
import { mergePatch } from './merge-patch.js';

/** Appendix A of RFC 7386: original, patch, result. */
const APPENDIX: readonly (readonly [string, string, string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

const members: readonly (readonly [string, string, string])[] = [
  ['{}', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}', '{"__proto__":{"a":1,"b":2}}'],
  ['{"__proto__":{"a":1},"b":2}', '{"__proto__":null}', '{"b":2}'],
  ['{}', '{"constructor":{"prototype":{"a":1}}}', '{"constructor":{"prototype":{"a":1}}}'],
  ['{"a":1}', '{"toString":null}', '{"a":1}'],
];

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as Json); // JSON by its making.
const objects = json.filter(isJsonObject);

test('the examples of RFC 7386 come out as printed there', () => {
  for (const [target, patch, result] of APPENDIX) assert.equal(merged(target, patch), result, `${target} + ${patch}`);
});

test('members named like those every object has are merged like others, and no prototype changes', () => {
  for (const [target, patch, result] of members) assert.equal(merged(target, patch), result, `${target} + ${patch}`);
  assert.equal(({} as Record<string, unknown>).a, undefined); // Asked for something no object has.
});

test('merging the same patch again changes nothing, and nothing is changed in place', () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const before = JSON.stringify([target, patch]);
      const once = mergePatch(target, patch);
      assert.equal(JSON.stringify(mergePatch(once, patch)), JSON.stringify(once));
      assert.equal(JSON.stringify([target, patch]), before);
    }),
  );
});

test('the outcome is as a plain reading of the RFC would have it, and no deeper than what went in', () => {
  fc.assert(
    fc.property(objects, objects, (target, patch) => {
      const outcome = mergePatch(target, patch);
      assert.ok(isJsonObject(outcome));
      for (const name of new Set([...Object.keys(target), ...Object.keys(patch)])) {
        const change = Object.hasOwn(patch, name) ? patch[name] : undefined;
        if (change === null) assert.ok(!Object.hasOwn(outcome, name), name);
        else if (change === undefined) assert.equal(JSON.stringify(outcome[name]), JSON.stringify(target[name]));
        else if (!isJsonObject(change)) assert.deepEqual(outcome[name], change);
        else assert.ok(isJsonObject(outcome[name]));
      }
      assert.ok(depthOf(outcome) <= Math.max(depthOf(target), depthOf(patch)));
    }),
  );
});

test('nesting far beyond what the parser lets in is merged too', () => {
  const deep = `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`;
  assert.equal(merged(deep, deep.replace('1', '2')), deep.replace('1', '2'));
});

function merged(target: string, patch: string): string {
  return JSON.stringify(mergePatch(JSON.parse(target) as Json, JSON.parse(patch) as Json)); // Parsed, therefore JSON.
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
