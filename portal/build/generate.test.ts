import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { generatedText } from './generate.js';
import { GENERATED } from './paths.js';
import { typeOf } from './types-of.js';

describe('the client of the Portal', () => {
  it('has the types of the documents; `npm run openapi` writes them', async () => {
    assert.equal(await readFile(GENERATED, 'utf8'), await generatedText());
  });

  it('has a type for every form of a schema', () => {
    assert.equal(
      typeOf({ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
      'readonly (string | null)[]',
    );
    assert.equal(typeOf({ $ref: '#/components/schemas/Token' }), 'Token');
    assert.equal(typeOf({ enum: ['a', 1] }), '"a" | 1');
    assert.equal(
      typeOf({ type: 'object', properties: { id: { type: 'string' }, 'x-y': { type: 'integer' } }, required: ['id'] }),
      '{ readonly id: string; readonly "x-y"?: number | undefined }',
    );
    assert.equal(typeOf({}), 'unknown');
  });
});
