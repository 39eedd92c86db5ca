import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../kernel/errors.js';
import type { CursorScope, Position } from './cursor.js';
import { createCursors } from './cursor.js';

const SCOPE: CursorScope = {
  list: 'logs',
  tenantId: '0b8f6b3e-6f0b-4c57-9a35-5f1f3c2a9d10',
  filters: ['card', '', '', ''],
};
const POSITION: Position = { atMs: 1_707_816_600_125, id: '018da1e4-2f3d-7aaa-8bbb-0123456789ab' };

const times = fc.integer({
  min: Date.parse('0001-01-01T00:00:00Z'),
  max: Date.parse('2999-12-31T23:59:59.999Z'),
});
const positions = fc.record({ atMs: times, id: fc.uuid() }, { noNullPrototype: true });

function setUp() {
  return createCursors(createSecretKey(randomBytes(32)));
}

function isRefusal(error: unknown): boolean {
  assert.ok(error instanceof AppError);
  assert.equal(error.code, 'invalid_cursor');
  assert.equal(error.status, 400);
  assert.deepEqual(Object.keys(error.errors ?? {}), ['start']);
  return true;
}

describe('cursors', () => {
  it('opens to the position that was sealed, for any time and id', () => {
    const cursors = setUp();
    fc.assert(
      fc.property(positions, (position) => {
        assert.deepEqual(cursors.open(SCOPE, cursors.seal(SCOPE, position)), position);
      }),
    );
  });

  it('is short, and safe in an address without encoding', () => {
    const cursors = setUp();
    fc.assert(
      fc.property(positions, (position) => {
        assert.match(cursors.seal(SCOPE, position), /^[A-Za-z0-9_-]{1,100}$/);
      }),
    );
  });

  it('400 when any single bit was changed', () => {
    const cursors = setUp();
    const bytes = Buffer.from(cursors.seal(SCOPE, POSITION), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.throws(() => cursors.open(SCOPE, changed.toString('base64url')), isRefusal, `bit ${bit}`);
    }
  });

  it('400 when it was cut, prolonged or spelt another way', () => {
    const cursors = setUp();
    const cursor = cursors.seal(SCOPE, POSITION);
    for (let length = 0; length < cursor.length; length += 1) {
      assert.throws(() => cursors.open(SCOPE, cursor.slice(0, length)), isRefusal);
    }
    for (const other of [`${cursor}A`, `${cursor}=`, ` ${cursor}`, `${cursor}\n`, cursor.padEnd(501, 'A')]) {
      assert.throws(() => cursors.open(SCOPE, other), isRefusal);
    }
  });

  it('400 for another tenant, another list, other filters, and filters that only read the same in a row', () => {
    const cursors = setUp();
    const cursor = cursors.seal(SCOPE, POSITION);
    const others: CursorScope[] = [
      { ...SCOPE, tenantId: '0b8f6b3e-6f0b-4c57-9a35-5f1f3c2a9d11' },
      { ...SCOPE, list: 'tokens' },
      { ...SCOPE, filters: ['bank', '', '', ''] },
      { ...SCOPE, filters: ['', 'card', '', ''] },
      { ...SCOPE, filters: ['car', 'd', '', ''] },
      { ...SCOPE, filters: ['card', '', ''] },
      { ...SCOPE, filters: ['card', '', '', '', ''] },
    ];
    for (const scope of others) assert.throws(() => cursors.open(scope, cursor), isRefusal, JSON.stringify(scope));
  });

  it('400 when it was sealed under another key', () => {
    const cursor = setUp().seal(SCOPE, POSITION);
    assert.throws(() => setUp().open(SCOPE, cursor), isRefusal);
  });

  it('400 and nothing else for any text that was not sealed here', () => {
    const cursors = setUp();
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.base64String({ maxLength: 600 }),
      fc.uint8Array({ minLength: 39, maxLength: 39 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        assert.throws(() => cursors.open(SCOPE, text), isRefusal);
      }),
      { numRuns: 500 },
    );
  });
});
