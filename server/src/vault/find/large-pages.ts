import { decide } from '../../access/decide.js';
import type { Permission } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import { AppError } from '../../kernel/errors.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { placed, recordTouched } from '../change/change.js';
import type { Opener } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { takeRoom } from '../open/room.js';
import { subjectOf } from '../present/answer.js';
import type { PresentedToken } from '../present/token-body.js';
import type { FoundRow, TokenRow } from '../stored/row.js';
import { sealedBytesOf } from '../stored/row.js';

/** What a page may hold without asking for room: as many such as there may be requests at once still fit into memory. */
export const FREE_BYTES_MAX = 65_536;
/** From here on a page is sent in pieces of this size, or of one token where that is larger. */
export const PIECE_BYTES_MAX = 524_288;
/** What is held of a piece: the records, the text, and what is on its way to the client. */
export const PIECE_TIMES = 3;

export interface LargePagesOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly largeWork: LargeWork;
}

export interface LargePage {
  readonly principal: Principal;
  readonly auditContext: AuditContext;
  readonly permission: Permission;
  readonly event: LogEvent;
  readonly rows: readonly FoundRow[];
  /** Shapes a token, and says how many bytes its mask came to. */
  readonly present: (token: OpenRow, transform: NonNullable<ReturnType<typeof decide>>) => Presented;
}

/** Writes tokens as they stand in a list, one behind the other. */
export type WriteTokens = (bodies: readonly PresentedToken[]) => Buffer;

/** The tokens of a page, a few at a time; each piece is written where it is made, to hold no more than one opened. */
export type TokenPieces = (write: WriteTokens) => AsyncIterable<Buffer>;

export interface Presented {
  readonly body: PresentedToken;
  readonly maskBytes: number;
}

interface Written {
  readonly text: Buffer;
  readonly changed: readonly OpenRow[];
  readonly unused: readonly TokenRow[];
}

function withdrawn(): AppError {
  return new AppError(
    'invalid_api_key',
    'The rights of this key were changed while its answer was on the way. Ask again.',
  );
}

/** Pages that are too large to be held whole. */
export interface LargePages {
  /**
   * The log has an entry for each token before the first of them is opened. Then they are opened a few at a time, as fast
   * as the client takes them: by what each holds then it is decided anew whether the caller may see it, and what is gone
   * meanwhile is left out.
   */
  open(page: LargePage): Promise<TokenPieces>;
}

export function createLargePages({ database, opener, largeWork }: LargePagesOptions): LargePages {
  async function* pieces({ principal, auditContext, permission, event, rows, present }: LargePage, write: WriteTokens) {
    const versions = new Map(rows.map(({ id, data_version }) => [id, data_version]));
    let left: readonly FoundRow[] = rows;
    while (left.length > 0) {
      // A slow client must not go on reading by rights that were taken from it.
      if (left !== rows && (await auditContext.holder?.isStillAllowed?.()) === false) throw withdrawn();
      const count = countWithin(left);
      const rest = left.slice(count);
      const piece = await opener.openPaced(principal.tenantId, left.slice(0, count), auditContext.atMs, written);
      left = [...piece.unused, ...rest];
      // What was changed meanwhile is not what the log says was shown.
      const { changed } = piece;
      if (changed.length > 0)
        await database.append(principal.tenantId, (tx) => recordTouched(tx, auditContext, event, changed));
      yield piece.text;
    }

    /** A mask may make much of little: what would make the piece too large waits for the next one, unopened. */
    function written(tokens: readonly OpenRow[]): Written {
      const bodies: PresentedToken[] = [];
      const changed: OpenRow[] = [];
      let bytes = 0;
      for (const [n, token] of tokens.entries()) {
        const transform = decide(principal, permission, subjectOf(token));
        if (transform === undefined) continue;
        const { body, maskBytes } = present(token, transform);
        bodies.push(body);
        if (token.row.data_version !== versions.get(token.row.id)) changed.push(token);
        bytes += maskBytes;
        if (bytes > PIECE_BYTES_MAX) {
          return { text: write(bodies), changed, unused: tokens.slice(n + 1).map(({ row }) => row) };
        }
      }
      return { text: write(bodies), changed, unused: [] };
    }
  }

  return {
    async open(page) {
      const { principal, auditContext, event, rows } = page;
      const largest = rows.reduce((most, row) => Math.max(most, sealedBytesOf(row)), PIECE_BYTES_MAX);
      await takeRoom(largeWork, principal.tenantId, auditContext, largest * PIECE_TIMES);
      await database.append(principal.tenantId, (tx) => recordTouched(tx, auditContext, event, rows.map(placed)));
      return (write) => pieces(page, write);
    },
  };
}

/** How many of the first rows make a piece. */
function countWithin(rows: readonly FoundRow[]): number {
  let bytes = 0;
  const at = rows.findIndex((row) => {
    bytes += sealedBytesOf(row);
    return bytes > PIECE_BYTES_MAX;
  });
  return at === -1 ? rows.length : Math.max(1, at);
}

/** All of them, in pieces. */
export function piecesOf(rows: readonly FoundRow[]): FoundRow[][] {
  const pieces: FoundRow[][] = [];
  for (let at = 0; at < rows.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(rows.slice(at, at + countWithin(rows.slice(at))));
  }
  return pieces;
}
