import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldErrors } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import { applyPatch } from '../../../vault/change/apply-patch.js';
import type { TokenContent } from '../../../vault/stored/content.js';
import { TOKEN_TYPE_CATALOGUE } from '../../../vault/types/catalogue.js';
import { readTokenPatch } from './token-patch.js';

const CONTEXT = { path: '', nowMs: Date.UTC(2024, 1, 13, 9, 30) };

const CONTENT: TokenContent = {
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, cvc: '123', extra: { a: 1, b: 2 } },
  containers: ['/x/', '/y/'],
  metadata: { a: '1', b: '2' },
  mask: { number: 'own', note: 'kept' },
  searchIndexes: ['{{ data.number }}'],
  fingerprintExpression: '{{ data.cvc }}',
  privacy: { classification: 'pci', impact_level: 'low', restriction_policy: 'redact' },
  encryption: { kid: 'k' },
};

test('an empty change, and one that repeats what never changes, leaves the token as it is', () => {
  for (const body of [
    {},
    { id: 'another', tenant_id: 7, created_at: [], fingerprint: 1 },
    { type: 'card', privacy: { classification: 'pci' } },
    { type: null, deduplicate_token: null, privacy: { classification: null } },
  ]) {
    assert.deepEqual(patched(body), CONTENT, JSON.stringify(body));
  }
});

test('data, mask and metadata are merged', () => {
  const content = patched({
    data: { expiration_month: 1, cvc: null, extra: { b: null, c: [null] } },
    mask: { number: null, more: '{{ data.extra }}' },
    metadata: { a: null, c: '3' },
  });
  assert.deepEqual(content.data, { number: '4242424242424242', expiration_month: 1, extra: { a: 1, c: [null] } });
  assert.deepEqual(content.mask, { note: 'kept', more: '{{ data.extra }}' });
  assert.deepEqual(content.metadata, { b: '2', c: '3' });
});

test('everything else is replaced', () => {
  const content = patched({
    containers: ['/A/', '/a/'],
    search_indexes: [],
    fingerprint_expression: '{{ data.number }}',
    encryption: { other: null },
    privacy: { impact_level: 'moderate', restriction_policy: 'mask' },
  });
  assert.deepEqual(content, {
    ...CONTENT,
    containers: ['/a/'],
    searchIndexes: [],
    fingerprintExpression: '{{ data.number }}',
    encryption: { other: null },
    privacy: { classification: 'pci', impact_level: 'moderate', restriction_policy: 'mask' },
  });
});

test('null takes a field back to its default, or away', () => {
  const content = patched({
    mask: null,
    metadata: null,
    containers: null,
    search_indexes: null,
    fingerprint_expression: null,
    encryption: null,
  });
  assert.deepEqual(content, {
    ...CONTENT,
    mask: undefined,
    metadata: undefined,
    containers: ['/pci/low/'],
    searchIndexes: undefined,
    fingerprintExpression: undefined,
    encryption: undefined,
  });
  const ofType = { classification: 'pci', impact_level: 'high', restriction_policy: 'mask' };
  assert.deepEqual(patched({ privacy: null, containers: null }).containers, ['/pci/high/']);
  assert.deepEqual(patched({ privacy: null }).privacy, ofType);
  assert.deepEqual(patched({ privacy: { impact_level: null, restriction_policy: null } }).privacy, ofType);
  assert.deepEqual(patched({ privacy: { impact_level: null } }).privacy, { ...CONTENT.privacy, impact_level: 'high' });
});

test('an expiry is replaced, taken away or left', () => {
  assert.equal(patchOf({ expires_at: '2/14/2024' })?.expiresAtMs, Date.UTC(2024, 1, 14));
  assert.equal(patchOf({ expires_at: null })?.expiresAtMs, null);
  assert.equal(patchOf({})?.expiresAtMs, undefined);
  assert.equal(patchOf({ deduplicate_token: true })?.deduplicate, true);
});

test('a mask is merged into the one the type brings along when the token has none', () => {
  const content = patched({ mask: { number: null } }, { ...CONTENT, mask: undefined });
  const { expiration_month, expiration_year } = TOKEN_TYPE_CATALOGUE.card.mask as Record<string, Json>; // Of a card: an object.
  assert.deepEqual(content.mask, { expiration_month, expiration_year });
  assert.equal(patched({ mask: '{{ broken' }).mask, '{{ broken');
});

test('a generic token takes data of any kind in place of the old', () => {
  const content = { ...CONTENT, type: 'token' as const };
  for (const data of ['text', 0, false, [null], []]) assert.deepEqual(patched({ data }, content).data, data);
  assert.deepEqual(patched({ data: { a: { b: null } } }, { ...content, data: 'old' }).data, { a: {} });
});

const wrongAlone: readonly (readonly [path: string, bodies: readonly Json[]])[] = [
  ['data', [{ data: null }]],
  ['data.a[0]', [{ data: { a: [2 ** 53] } }]],
  ['type', [{ type: 'visa' }, { type: 1 }, { type: {} }]],
  ['metadata', [{ metadata: [] }, { metadata: 'x' }, { metadata: { '': 'x' } }]],
  ['metadata.k', [{ metadata: { k: 1 } }, { metadata: { k: 'x'.repeat(2001) } }, { metadata: { k: '\u0000' } }]],
  ['containers', [{ containers: [] }, { containers: {} }, { containers: '/a/' }]],
  ['containers[1]', [{ containers: ['/a/', null] }, { containers: ['/a/', 'b'] }]],
  ['search_indexes', [{ search_indexes: 'x' }]],
  ['search_indexes[0]', [{ search_indexes: [''] }, { search_indexes: [null] }]],
  ['fingerprint_expression', [{ fingerprint_expression: '' }, { fingerprint_expression: [] }]],
  ['deduplicate_token', [{ deduplicate_token: 'true' }, { deduplicate_token: 1 }]],
  ['expires_at', [{ expires_at: '2024-02-13T09:30Z' }, { expires_at: 'soon' }, { expires_at: 0 }]],
  ['privacy', [{ privacy: 'pci' }, { privacy: [] }]],
  ['privacy.impact_level', [{ privacy: { impact_level: 'x' } }]],
  ['privacy.restriction_policy', [{ privacy: { restriction_policy: true } }]],
  ['encryption', [{ encryption: 'x' }, { encryption: [] }]],
  ['$', [null, [], 'x', 1, true]],
];

for (const [path, bodies] of wrongAlone) {
  test(`a change that is wrong by itself is refused at ${path}`, () => {
    for (const body of bodies) {
      const errors: FieldErrors = {};
      assert.equal(readTokenPatch(body, CONTEXT, errors), undefined, JSON.stringify(body));
      assert.deepEqual(Object.keys(errors), [path], JSON.stringify(body));
    }
  });
}

const wrongTogether: readonly (readonly [path: string, body: Json])[] = [
  ['type', { type: 'token' }],
  ['privacy.classification', { privacy: { classification: 'pii' } }],
  ['data.number', { data: { number: '4242424242424241' } }],
  ['data.number', { data: { number: null } }],
  ['data.expiration_month', { data: { expiration_month: 13 } }],
  ['data.cvc', { data: { cvc: '12' } }],
  ['data', { data: '4242424242424242' }],
  ['data', { data: [] }],
  ['metadata', { metadata: Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`k${index}`, 'v'])) }],
];

for (const [path, body] of wrongTogether) {
  test(`a change whose outcome is wrong is refused at ${path}: ${JSON.stringify(body).slice(0, 50)}`, () => {
    const patch = patchOf(body);
    assert.ok(patch);
    assert.deepEqual(Object.keys(applyPatch(CONTENT, patch).faults), [path]);
  });
}

test('metadata may be exchanged when full, and may lose more entries than it may have', () => {
  const full = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v']));
  const content = { ...CONTENT, metadata: full };
  assert.equal(Object.keys(patched({ metadata: { k0: null, other: 'x' } }, content).metadata ?? {}).length, 50);
  const removals = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, null]));
  assert.deepEqual(patched({ metadata: removals }, content).metadata, {});
});

test('the stored token is not changed in place', () => {
  const before = JSON.stringify(CONTENT);
  patched({
    data: { extra: { a: null } },
    mask: { note: null },
    metadata: { a: null },
    privacy: null,
    containers: null,
  });
  assert.equal(JSON.stringify(CONTENT), before);
});

function patchOf(body: Json) {
  const errors: FieldErrors = {};
  const patch = readTokenPatch(body, CONTEXT, errors);
  assert.deepEqual(errors, {});
  return patch;
}

function patched(body: Json, content: TokenContent = CONTENT): TokenContent {
  const patch = patchOf(body);
  assert.ok(patch);
  const outcome = applyPatch(content, patch);
  assert.deepEqual(outcome.faults, {});
  return outcome.content;
}
