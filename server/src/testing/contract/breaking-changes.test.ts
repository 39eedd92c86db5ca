import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { VERSION } from '../../version.js';
import type { BreakingChange } from './breaking-changes.js';
import { breakingChanges } from './breaking-changes.js';
import type { DocumentObject } from './document.js';
import { DOCUMENT_FILE, RELEASED_FILE, readDocument } from './document.js';

const THING = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    kind: { enum: ['a', 'b'] },
    size: { type: 'integer', minimum: 1, maximum: 100 },
    tags: { type: 'array', maxItems: 10, items: { type: 'string' } },
    inner: { type: 'object', properties: { deep: { type: 'boolean' } } },
  },
};

interface Parts {
  readonly request?: object;
  readonly response?: object;
  readonly parameters?: readonly object[];
  readonly operation?: object;
}

function documentWith({ request = THING, response = THING, parameters = [], operation = {} }: Parts): DocumentObject {
  const content = (schema: object) => ({ content: { 'application/json': { schema } } });
  const post = {
    'x-permission': 'thing:create',
    parameters,
    requestBody: { required: false, ...content({ $ref: '#/components/schemas/Thing' }) },
    responses: { 201: content(response), 400: content({}) },
    ...operation,
  };
  return { paths: { '/things': { post } }, components: { schemas: { Thing: request } } };
}

/** The schema of a thing with some of its fields described in another way. */
function thingWith(fields: object, more: object = {}): object {
  return { ...THING, properties: { ...THING.properties, ...fields }, ...more };
}

function changed(earlier: Parts, later: Parts): string[] {
  return breakingChanges(documentWith(earlier), documentWith(later)).map(({ field, what }) =>
    `${field} ${what}`.trim(),
  );
}

const without = (name: string) => ({
  ...THING,
  properties: Object.fromEntries(Object.entries(THING.properties).filter(([each]) => each !== name)),
});

describe('changes that break clients', () => {
  const request: Readonly<Record<string, readonly [object, string]>> = {
    'a field that is gone': [without('size'), 'size is gone'],
    'a choice that is gone': [thingWith({ kind: { type: 'string', enum: ['a'] } }), 'kind is never b'],
    'text that becomes a choice': [thingWith({ name: { type: 'string', enum: ['x'] } }), 'name is one of x'],
    'a field that becomes required': [thingWith({}, { required: ['name', 'kind'] }), 'kind is required'],
    'an upper bound that falls': [
      thingWith({ size: { type: 'integer', minimum: 1, maximum: 99 } }),
      'size has maximum 99',
    ],
    'a lower bound that rises': [
      thingWith({ size: { type: 'integer', minimum: 2, maximum: 100 } }),
      'size has minimum 2',
    ],
    'a bound that is new': [
      thingWith({ inner: { ...THING.properties.inner, maxProperties: 3 } }),
      'inner has maxProperties 3',
    ],
    'a shorter list': [thingWith({ tags: { ...THING.properties.tags, maxItems: 9 } }), 'tags has maxItems 9'],
    'a list of something else': [
      thingWith({ tags: { type: 'array', items: { type: 'integer' } } }),
      'tags[] is integer, not string',
    ],
    'another type': [thingWith({ size: { type: 'string' } }), 'size is string, not integer'],
    'another type further in': [
      thingWith({ inner: { type: 'object', properties: { deep: { type: 'string' } } } }),
      'inner.deep is string, not boolean',
    ],
    'a pattern that is new': [
      thingWith({ name: { type: 'string', minLength: 1, maxLength: 200, pattern: '^a' } }),
      'name has a pattern',
    ],
    'names that are shorter': [
      thingWith({ inner: { ...THING.properties.inner, propertyNames: { type: 'string', maxLength: 5 } } }),
      'inner names has maxLength 5',
    ],
    'an object that is closed': [thingWith({}, { additionalProperties: false }), 'takes no others'],
  };
  for (const [title, [schema, expected]] of Object.entries(request)) {
    it(`in a request: ${title}`, () => assert.deepEqual(changed({}, { request: schema }), [expected]));
  }

  const response: Readonly<Record<string, readonly [object, string]>> = {
    'a field that is gone': [without('size'), 'size is gone'],
    'a field that may be missing': [thingWith({}, { required: [] }), 'name is not always there'],
    'a field that may be null': [
      thingWith({ size: { type: ['integer', 'null'] } }),
      'size is integer or null, not integer',
    ],
    'another type': [thingWith({ size: { type: 'string' } }), 'size is string, not integer'],
    'a choice that is gone': [thingWith({ kind: { enum: ['a'] } }), 'kind is never b'],
  };
  for (const [title, [schema, expected]] of Object.entries(response)) {
    it(`in an answer: ${title}`, () => assert.deepEqual(changed({}, { response: schema }), [expected]));
  }

  it('of an operation: gone, another permission, another status, a body it needs, a type it does not take, parameters', () => {
    const parameter = { name: 'size', in: 'query', required: false, schema: { type: 'integer' } };
    const nothing = { paths: {}, components: {} };
    assert.deepEqual(breakingChanges(documentWith({}), nothing), [
      { operation: 'POST /things', field: '', what: 'is gone' },
    ]);
    const of = (operation: object) => changed({}, { operation });
    assert.deepEqual(of({ 'x-permission': 'thing:write' }), ['asks for thing:write, not thing:create']);
    assert.deepEqual(of({ responses: { 200: { content: { 'application/json': { schema: THING } } } } }), [
      'answers 200, not 201',
    ]);
    const content = { 'application/json': { schema: THING } };
    assert.deepEqual(of({ requestBody: { required: true, content } }), ['needs a body']);
    assert.deepEqual(of({ requestBody: { required: false, content: {} } }), ['has no application/json any more']);
    assert.deepEqual(changed({ parameters: [parameter] }, {}), ['size is no parameter any more']);
    assert.deepEqual(changed({}, { parameters: [{ ...parameter, required: true }] }), ['size is a required parameter']);
    const text = { ...parameter, schema: { type: 'string' } };
    assert.deepEqual(changed({ parameters: [parameter] }, { parameters: [text] }), ['size is string, not integer']);
  });

  it('in one of several kinds of a body: a field it needs, fewer in a list, the kind itself, and another default', () => {
    const kindOf = (type: string, fields: object = {}, more: object = {}) => ({
      type: 'object',
      properties: { type: { type: 'string', enum: [type] }, name: { type: 'string' }, ...fields },
      ...more,
    });
    const size = (value: string) => ({
      size: { anyOf: [{ allOf: [{ type: 'string', enum: ['s', 'm'] }], default: value }, { type: 'null' }] },
    });
    const tags = (maxItems: number) => ({ tags: { type: 'array', maxItems } });
    const of = (...kinds: object[]) => ({ request: { oneOf: kinds } });
    const before = of(kindOf('a', { ...size('s'), ...tags(9) }), kindOf('b', tags(9)));
    const later = (a: object, b: object) => changed(before, of(a, b));
    const [a, b] = [kindOf('a', { ...size('s'), ...tags(9) }), kindOf('b', tags(9))];
    assert.deepEqual(later(a, b), []);
    assert.deepEqual(later(a, kindOf('b', tags(9), { required: ['name'] })), ['b.name is required']);
    assert.deepEqual(later(kindOf('a', { ...size('s'), ...tags(1) }), b), ['a.tags has maxItems 1']);
    assert.deepEqual(later(kindOf('a', { ...size('m'), ...tags(9) }), b), ['a.size is "m" where it is left out']);
    assert.deepEqual(later(a, kindOf('c', tags(9))), ['b is gone']);
  });

  it('of who may call: a type of Application, and the header of the key', () => {
    const types = (...names: string[]) => ({ operation: { 'x-application-types': names } });
    assert.deepEqual(changed(types('public', 'private'), types('private')), [
      'is not for public Applications any more',
    ]);
    assert.deepEqual(changed(types('private'), types('private', 'public')), []);
    const withHeader = (name: string) => ({
      paths: {},
      components: { securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name } } },
    });
    assert.deepEqual(breakingChanges(withHeader('SVC-API-KEY'), withHeader('X-KEY')), [
      { operation: 'every operation', field: 'header SVC-API-KEY', what: 'is not read' },
    ]);
  });

  it('are none of these: what is added, what is wider, a schema written out as alternatives', () => {
    const wider = thingWith(
      {
        name: { anyOf: [{ type: 'string', maxLength: 300 }, { type: 'null' }] },
        kind: { type: 'string', enum: ['a', 'b', 'c'] },
        size: { type: 'number' },
        more: { type: 'string' },
      },
      { required: [] },
    );
    assert.deepEqual(changed({}, { request: wider }), []);
    const alternatives = ['a', 'b'].map((kind) => thingWith({ kind: { type: 'string', enum: [kind] } }));
    assert.deepEqual(changed({}, { request: { oneOf: alternatives } }), []);
    assert.deepEqual(
      changed({}, { response: thingWith({ more: { type: 'string' } }, { required: ['name', 'more'] }) }),
      [],
    );
    assert.deepEqual(changed({}, { parameters: [{ name: 'x', in: 'query', required: false, schema: {} }] }), []);
  });
});

describe(`${DOCUMENT_FILE} beside ${RELEASED_FILE}`, () => {
  it('breaks nothing that the changelog of this version does not name', async () => {
    const changes = breakingChanges(await readDocument(RELEASED_FILE), await readDocument(DOCUMENT_FILE));
    const section = await changelogSection();
    const missing = changes.map(sentenceOf).filter((sentence) => !section.includes(sentence));
    assert.deepEqual(missing, [], 'add these sentences as they are, with what users have to do');
    assert.ok(changes.length > 0, 'what is compared differs somewhere');
  });

  it('is held against the release before this one', async () => {
    const { info } = (await readDocument(RELEASED_FILE)) as { info?: { version?: string } };
    assert.ok(info?.version);
    const text = await readFile('CHANGELOG.md', 'utf8');
    const versions = [...text.matchAll(/^## (\d+\.\d+\.\d+)(.*)$/gm)];
    const unreleased = versions.filter(([, , note = '']) => note.includes('unreleased')).map(([, version]) => version);
    const released = versions.map(([, version]) => version).filter((version) => !unreleased.includes(version));
    assert.equal(info.version, released[0]);
  });
});

/** The section of this version, on one line. */
async function changelogSection(): Promise<string> {
  const text = await readFile('CHANGELOG.md', 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(VERSION)) ?? assert.fail(`no section ${VERSION}`);
  return section.replaceAll(/\s+/g, ' ');
}

/** One sentence for each change, so that none excuses another. */
function sentenceOf({ operation, field, what }: BreakingChange): string {
  return field === '' ? `\`${operation}\` ${what}` : `\`${operation}\`: \`${field}\` ${what}`;
}
