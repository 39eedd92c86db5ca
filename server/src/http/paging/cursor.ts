import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../../crypto/keyed-hash.js';
import { AppError } from '../../kernel/errors.js';

/** A position in a list ordered newest first: after the row with this time and id. */
export interface Position {
  readonly atMs: number;
  readonly id: string;
}

/** What a cursor is good for: one list of one tenant under the same filters. */
export interface CursorScope {
  readonly list: string;
  readonly tenantId: string;
  readonly filters: readonly string[];
}

export interface Cursors {
  seal(scope: CursorScope, position: Position): string;
  open(scope: CursorScope, cursor: string): Position;
}

const FORMAT = 1;
const TIME_BYTES = 6;
const ID_BYTES = 16;
const BODY_BYTES = 1 + TIME_BYTES + ID_BYTES;
const MAC_BYTES = 16;
const CURSOR_PATTERN = /^[A-Za-z0-9_-]{1,500}$/;
/** Time is kept as an unsigned number, so the year 0001 has to fit. */
const TIME_OFFSET_MS = 62_135_596_800_000;

/** Cursors cannot be made up or carried elsewhere: 128 bits of keyed hash cover the position and its scope. */
export function createCursors(key: KeyObject): Cursors {
  function macFor(scope: CursorScope, body: Buffer): Buffer {
    return macOf(key, ['cursor', scope.list, scope.tenantId, ...scope.filters, body]).subarray(0, MAC_BYTES);
  }

  return {
    seal(scope, position) {
      const body = Buffer.alloc(BODY_BYTES);
      body.writeUInt8(FORMAT, 0);
      body.writeUIntBE(position.atMs + TIME_OFFSET_MS, 1, TIME_BYTES);
      body.write(position.id.replaceAll('-', ''), 1 + TIME_BYTES, 'hex');
      return Buffer.concat([body, macFor(scope, body)]).toString('base64url');
    },
    open(scope, cursor) {
      const bytes = Buffer.from(CURSOR_PATTERN.test(cursor) ? cursor : '', 'base64url');
      const body = bytes.subarray(0, BODY_BYTES);
      const isWhole = bytes.length === BODY_BYTES + MAC_BYTES && bytes.toString('base64url') === cursor;
      if (!isWhole || body.readUInt8(0) !== FORMAT || !macEquals(macFor(scope, body), bytes.subarray(BODY_BYTES))) {
        throw new AppError(
          'invalid_cursor',
          'The cursor is damaged, or belongs to another list or other filters. Start again without it.',
          {
            errors: { start: ['is not a cursor of this list and these filters'] },
          },
        );
      }
      const hex = body.toString('hex', 1 + TIME_BYTES);
      const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
      return { atMs: body.readUIntBE(1, TIME_BYTES) - TIME_OFFSET_MS, id };
    },
  };
}
