import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldErrors } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import { idFault } from '../../../vault/types/token-id.js';
import { readNewToken } from './new-token.js';

const NOW_MS = Date.UTC(2024, 1, 13, 9, 30);
const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
const SMILE = '😀';

/** Members that are not the text they should be. */
const NO_TEXT: readonly Json[] = [true, false, 0, 1.5, [], {}, ['abc']];
const NO_ARRAY: readonly Json[] = [true, 1, 'abc', '', {}, { 0: '/a/' }];
const NO_OBJECT: readonly Json[] = [true, 1, 'abc', '', [], [{}]];

test('a plain card gets everything its type brings along', () => {
  assert.deepEqual(read({ type: 'card', data: CARD }), {
    id: undefined,
    type: 'card',
    data: CARD,
    mask: undefined,
    containers: ['/pci/high/'],
    metadata: undefined,
    searchIndexes: undefined,
    fingerprintExpression: undefined,
    deduplicate: undefined,
    expiresAtMs: undefined,
    privacy: { classification: 'pci', impact_level: 'high', restriction_policy: 'mask' },
    encryption: undefined,
  });
});

test('every field is taken as given, and what the server sets is ignored', () => {
  const token = read({
    id: 'My Id: 1',
    type: 'card',
    data: CARD,
    mask: { number: '{{ broken', list: [null, 'x'.repeat(500)] },
    containers: ['/PCI/High/', '/pci/high/', '/a_b-C/9/'],
    metadata: { a: '', gone: null, B: 'text' },
    search_indexes: ['{{ data.number | last4 }}'],
    fingerprint_expression: '{{ data.number }}',
    deduplicate_token: false,
    expires_at: '2/14/2024 9:30:00 AM +00:00',
    privacy: { restriction_policy: 'redact', impact_level: null, other: 1 },
    encryption: { cek: { alg: 'x', kid: null } },
    tenant_id: 7,
    created_at: {},
    modified_by: [],
    fingerprint: false,
    unknown: 'x',
  });
  assert.deepEqual(token, {
    id: 'My Id: 1',
    type: 'card',
    data: CARD,
    mask: { number: '{{ broken', list: [null, 'x'.repeat(500)] },
    containers: ['/pci/high/', '/a_b-c/9/'],
    metadata: { a: '', B: 'text' },
    searchIndexes: ['{{ data.number | last4 }}'],
    fingerprintExpression: '{{ data.number }}',
    deduplicate: false,
    expiresAtMs: Date.UTC(2024, 1, 14, 9, 30),
    privacy: { classification: 'pci', impact_level: 'high', restriction_policy: 'redact' },
    encryption: { cek: { alg: 'x', kid: null } },
  });
});

test('null counts as left out, except inside data', () => {
  const names = ['id', 'type', 'mask', 'containers', 'metadata', 'search_indexes', 'fingerprint_expression'];
  const more = ['deduplicate_token', 'expires_at', 'privacy', 'encryption'];
  const nulls = Object.fromEntries([...names, ...more].map((name) => [name, null]));
  assert.deepEqual(read({ ...nulls, data: [null, { a: null }] }), read({ data: [null, { a: null }] }));
});

test('data is required', () => {
  for (const body of [{}, { data: null }, { type: 'card' }, { type: 'card', data: null }]) {
    assert.deepEqual(faultsOf(body), { data: ['is required'] });
  }
  for (const data of ['', 0, false, [], {}]) assert.deepEqual(read({ data })?.data, data);
});

test('a body that is no object is named as a whole', () => {
  for (const body of [null, undefined, true, 1, 'text', [], [{ data: 1 }]]) {
    assert.deepEqual(faultsOf(body), { $: ['must be an object'] });
    assert.deepEqual(faultsOf(body, 'people[0]'), { 'people[0]': ['must be an object'] });
  }
});

test('an unknown type is answered with the eight known ones', () => {
  const sentence =
    'must be one of token, card, bank, card_number, us_bank_account_number, us_bank_routing_number, social_security_number, employer_id_number';
  for (const type of ['visa', 'Card', 'card ', '', 'constructor', '__proto__', 1, true, [], ['card'], {}]) {
    assert.deepEqual(faultsOf({ type, data: 1 }), { type: [sentence] });
  }
});

test('where privacy and containers come from', () => {
  const cases: readonly (readonly [object, string[], string, string])[] = [
    [{}, ['/general/high/'], 'general', 'high'],
    [{ privacy: {} }, ['/general/high/'], 'general', 'high'],
    [{ privacy: { classification: 'pii', impact_level: 'low' } }, ['/pii/low/'], 'pii', 'low'],
    [{ privacy: { impact_level: 'moderate' } }, ['/general/moderate/'], 'general', 'moderate'],
    [{ privacy: { classification: 'bank' }, containers: ['/x/'] }, ['/x/'], 'bank', 'high'],
    [{ containers: ['/x/'] }, ['/x/'], 'general', 'high'],
    [{ containers: ['/'] }, ['/'], 'general', 'high'],
    [{ containers: ['/PII/low/more/', '/pci/high/'] }, ['/pii/low/more/', '/pci/high/'], 'pii', 'low'],
    [{ containers: ['/pci/'] }, ['/pci/'], 'pci', 'high'],
    [{ containers: ['/constructor/low/'] }, ['/constructor/low/'], 'general', 'low'],
  ];
  for (const [body, containers, classification, level] of cases) {
    const token = read({ data: 1, ...body });
    assert.deepEqual(token?.containers, containers, JSON.stringify(body));
    const privacy = { classification, impact_level: level, restriction_policy: 'redact' };
    assert.deepEqual(token?.privacy, privacy, JSON.stringify(body));
  }
});

const wrong: readonly (readonly [field: string, path: string, values: readonly Json[]])[] = [
  [
    'id',
    'id',
    [...NO_TEXT, '', 'ab', `a${SMILE}`, 'a'.repeat(401), SMILE.repeat(401), 'abc\u0000', 'abc\ud800', '\udc00abc'],
  ],
  ['id', 'id', [...'#/\\+?[]|&=%<>{}^'].map((character) => `ab${character}`)],
  ['id', 'id', [`{{ data }}${'x'.repeat(391)}`]],
  ['containers', 'containers', [...NO_ARRAY, [], Array.from({ length: 11 }, () => '/a/')]],
  ['containers', 'containers[0]', NO_TEXT.map((item) => [item])],
  [
    'containers',
    'containers[0]',
    [[null], [''], ['a'], ['/a'], ['a/'], ['//'], ['/a//b/'], ['/a b/'], ['/ä/'], ['/a/\n']],
  ],
  [
    'containers',
    'containers[0]',
    [['/../'], ['/a\u0000/'], ['/\ud800/'], ['/*/'], [`/${'a'.repeat(199)}/`], ['/\u212a/']],
  ],
  [
    'containers',
    'containers[1]',
    [
      ['/a/', '/a'],
      ['/a/', null],
    ],
  ],
  ['metadata', 'metadata', [...NO_OBJECT, { '': 'x' }, { 'a\u0000': 'x' }, { '\ud800': 'x' }, entries(51)]],
  ['metadata', 'metadata.key', NO_TEXT.map((value) => ({ key: value }))],
  [
    'metadata',
    'metadata.key',
    [{ key: 'x'.repeat(2001) }, { key: SMILE.repeat(2001) }, { key: 'a\u0000' }, { key: '\udc00' }],
  ],
  ['metadata', `metadata.${'k'.repeat(100)}…`, [{ ['k'.repeat(201)]: 'x' }, { ['k'.repeat(201)]: 7 }]],
  ['search_indexes', 'search_indexes', [...NO_ARRAY, Array.from({ length: 11 }, () => 'a')]],
  ['search_indexes', 'search_indexes[2]', [...NO_TEXT, null, '', 'x'.repeat(401)].map((item) => ['a', 'b', item])],
  ['fingerprint_expression', 'fingerprint_expression', [...NO_TEXT, '', 'x'.repeat(401), SMILE.repeat(401)]],
  ['deduplicate_token', 'deduplicate_token', ['true', 'false', '', 0, 1, [], {}, [true]]],
  [
    'expires_at',
    'expires_at',
    [...NO_TEXT, '', 'tomorrow', '2024-02', '2030-02-30', '2/30/2030', '13/1/2030', '1893456000000'],
  ],
  [
    'expires_at',
    'expires_at',
    ['2024-02-13T09:30:00.000Z', '2024-02-13', '2/13/2024', '2/13/2024 9:30 AM', '0001-01-01'],
  ],
  ['privacy', 'privacy', NO_OBJECT],
  ['privacy', 'privacy.classification', [...NO_TEXT, '', 'PCI', 'secret'].map((value) => ({ classification: value }))],
  ['privacy', 'privacy.impact_level', [...NO_TEXT, '', 'medium'].map((value) => ({ impact_level: value }))],
  ['privacy', 'privacy.restriction_policy', [...NO_TEXT, '', 'reveal'].map((value) => ({ restriction_policy: value }))],
  ['encryption', 'encryption', NO_OBJECT],
];

for (const [field, path, values] of wrong) {
  test(`a wrong ${field} is reported at ${path.slice(0, 40)} alone, in the body and inside a larger one`, () => {
    for (const value of values) {
      const body = { data: 'secret-data', [field]: value };
      assert.deepEqual(Object.keys(faultsOf(body)), [path], JSON.stringify(value).slice(0, 100));
      assert.deepEqual(Object.keys(faultsOf(body, 'people[0].card')), [`people[0].card.${path}`]);
    }
  });
}

test('no message repeats what was sent', () => {
  const mark = 'S3CR3T';
  const body = {
    id: `${mark}%`,
    type: mark,
    data: { number: mark },
    containers: [mark],
    metadata: { key: `${mark}\u0000` },
    search_indexes: [mark.repeat(100)],
    fingerprint_expression: mark.repeat(100),
    deduplicate_token: mark,
    expires_at: mark,
    privacy: { classification: mark, impact_level: mark, restriction_policy: mark },
    encryption: mark,
  };
  const faults = faultsOf(body);
  assert.equal(Object.keys(faults).length, 12, 'all faults at once');
  assert.ok(!JSON.stringify(faults).includes(mark));
  const ofCard = faultsOf({
    type: 'card',
    data: { number: mark, expiration_month: mark, expiration_year: mark, cvc: mark },
  });
  assert.equal(Object.keys(ofCard).length, 4);
  assert.ok(!JSON.stringify(ofCard).includes(mark));
});

test('what reaches a limit exactly passes, counted in characters', () => {
  const bodies: readonly object[] = [
    { id: 'abc' },
    { id: SMILE.repeat(3) },
    { id: SMILE.repeat(400) },
    { id: `{{ data }}${'x'.repeat(390)}` },
    { containers: [`/${'a'.repeat(198)}/`] },
    { containers: Array.from({ length: 10 }, (_, index) => `/${index}/`) },
    { metadata: entries(50) },
    { metadata: { ...entries(50), gone: null } },
    { metadata: { [SMILE.repeat(200)]: SMILE.repeat(2000) } },
    { search_indexes: Array.from({ length: 10 }, () => SMILE.repeat(400)) },
    { search_indexes: [] },
    { fingerprint_expression: SMILE.repeat(400) },
    { expires_at: '2024-02-13T09:30:00.001Z' },
  ];
  for (const body of bodies) assert.deepEqual(faultsOf({ data: 1, ...body }), {}, JSON.stringify(body).slice(0, 60));
});

test('numbers the parser may have rounded are refused wherever they stand in the data', () => {
  const body: unknown = JSON.parse(
    '{"data":{"ok":[9007199254740991,-9007199254740991,0.1,1e15],"a":[null,"x",1,true,{"b":9007199254740992}],"c":-9007199254740993,"d":1e300,"e":-1e999}}',
  );
  assert.deepEqual(Object.keys(faultsOf(body)), ['data.a[4].b', 'data.c', 'data.d', 'data.e']);
  assert.deepEqual(Object.keys(faultsOf({ data: 2 ** 53 }, '[3]')), ['[3].data']);
});

test('a body that is wrong in a hundred thousand places is answered with a hundred', () => {
  assert.equal(Object.keys(faultsOf({ data: Array.from({ length: 100_000 }, () => 1e300) })).length, 100);
  const metadata = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`\u0000${index}`, 'x']));
  assert.equal(faultsOf({ data: 1, metadata }).metadata?.length, 2);
});

test('members named like those every object has are ordinary members', () => {
  const body: unknown = JSON.parse(
    '{"data":{"__proto__":{"x":1},"constructor":2},"metadata":{"__proto__":"p","constructor":"c"},"encryption":{"__proto__":{"a":1}}}',
  );
  const token = read(body);
  assert.equal(JSON.stringify(token?.data), '{"__proto__":{"x":1},"constructor":2}');
  assert.equal(JSON.stringify(token?.metadata), '{"__proto__":"p","constructor":"c"}');
  assert.equal(JSON.stringify(token?.encryption), '{"__proto__":{"a":1}}');
  const polluted: unknown = JSON.parse('{"__proto__":{"type":"card","id":"abc"},"data":1}');
  assert.equal(read(polluted)?.type, 'token');
  assert.equal(read(polluted)?.id, undefined);
  const faulty: unknown = JSON.parse('{"data":1,"metadata":{"__proto__":7,"toString":8}}');
  assert.deepEqual(Object.keys(faultsOf(faulty)), ['metadata.__proto__', 'metadata.toString']);
});

test('an id that an expression gave is held to the same rules', () => {
  assert.equal(idFault('4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10'), undefined);
  assert.equal(idFault('a b'), undefined);
  for (const id of ['', 'ab', '{{ data }}', 'a/b', '\u0000\u0000\u0000']) assert.equal(typeof idFault(id), 'string');
});

function entries(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
}

function read(body: unknown) {
  const errors: FieldErrors = {};
  const token = readNewToken(body, { path: '', nowMs: NOW_MS }, errors);
  assert.deepEqual(errors, {});
  return token;
}

/** Whoever has a fault gets no token, and the other way round. */
function faultsOf(body: unknown, path = ''): FieldErrors {
  const errors: FieldErrors = {};
  const token = readNewToken(body, { path, nowMs: NOW_MS }, errors);
  assert.equal(token === undefined, Object.keys(errors).length > 0);
  return errors;
}
