import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Budget } from '../../expressions/budget.js';
import type { TokenView } from '../../expressions/expressions.js';
import { AppError } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { PIECE_BYTES_MAX, PIECE_TIMES, piecesOf } from '../find/large-pages.js';
import { unknownTokens } from '../make/too-many.js';
import type { Opener } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { takeRoom } from '../open/room.js';
import type { FoundRow } from '../stored/row.js';
import { sealedBytesOf } from '../stored/row.js';

/** What the tokens of one expression may hold together: all of them are opened for it at once. */
const EXPRESSION_BYTES_MAX = 4_194_304;

/** An expression with the tokens it names, each once. */
export interface NamedExpression {
  readonly text: string;
  readonly ids: readonly string[];
}

export interface LargeDetokenize {
  readonly principal: Principal;
  readonly auditContext: AuditContext;
  readonly rows: readonly FoundRow[];
  readonly expressions: readonly NamedExpression[];
  readonly budget: Budget;
  /** What goes meanwhile has no view, and is no reason to refuse the rest. */
  readonly mayBeGone?: true;
  /** Throws when the caller may not see the token. */
  readonly check: (token: OpenRow) => void;
  readonly viewsOf: (tokens: readonly OpenRow[]) => ReadonlyMap<string, TokenView>;
  readonly evaluate: (text: string, views: ReadonlyMap<string, TokenView>) => Json;
  /** What this throws came of looking at opened data. */
  readonly noting: <T>(evaluate: () => T) => T;
}

interface Group {
  readonly rows: readonly FoundRow[];
  readonly places: readonly number[];
}

/**
 * Evaluates expressions on tokens that are too large to be open all at once. Whether the caller may see all of them is
 * settled before the first expression is looked at: a refusal must not tell how an expression on another one went. Then
 * the tokens are opened again, a few at a time, with every expression that names no others.
 */
export async function evaluateLarge(
  { opener, largeWork }: { readonly opener: Opener; readonly largeWork: LargeWork },
  request: LargeDetokenize,
): Promise<Json[]> {
  const { principal, auditContext, rows, expressions, budget, noting } = request;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const bytes = Math.min(EXPRESSION_BYTES_MAX, largestOf(expressions, byId));
  await takeRoom(largeWork, principal.tenantId, auditContext, bytes * PIECE_TIMES);
  const open = (wanted: readonly FoundRow[], use: (tokens: readonly OpenRow[]) => void): Promise<void> => {
    // It may take a while, and nobody waits for it any more.
    if (auditContext.holder?.connection?.destroyed)
      throw new AppError('malformed_request', 'The client has gone away.');
    return opener.openPaced(principal.tenantId, wanted, auditContext.atMs, use);
  };

  for (const piece of piecesOf(rows)) {
    await open(piece, (tokens) => {
      if (!request.mayBeGone) refuseGone(piece, tokens);
      for (const token of tokens) request.check(token);
    });
  }
  const opened = new Set<FoundRow>();
  const values: Json[] = expressions.map(() => null);
  for (const group of groupsOf(expressions, byId)) {
    await open(group.rows, (tokens) =>
      noting(() => {
        if (!request.mayBeGone) refuseGone(group.rows, tokens);
        // Whoever combines tokens in many ways pays for opening them anew.
        budget.spend(bytesOf(group.rows.filter((row) => opened.has(row))));
        for (const row of group.rows) opened.add(row);
        const views = request.viewsOf(tokens);
        for (const place of group.places) values[place] = request.evaluate(expressions[place]?.text ?? '', views);
      }),
    );
  }
  return values;
}

function refuseGone(wanted: readonly FoundRow[], tokens: readonly OpenRow[]): void {
  const found = new Set(tokens.map(({ row }) => row.id));
  const gone = wanted.filter(({ id }) => !found.has(id)).map(({ id }) => id);
  if (gone.length > 0) throw unknownTokens(gone);
}

/** What has to be open at once, at most. */
function largestOf(expressions: readonly NamedExpression[], rows: ReadonlyMap<string, FoundRow>): number {
  return expressions.reduce(
    (most, { ids }) => Math.max(most, bytesOf(ids.flatMap((id) => rows.get(id) ?? []))),
    PIECE_BYTES_MAX,
  );
}

/** Expressions on the same tokens come together, and groups of them as long as their tokens make one piece. */
function groupsOf(expressions: readonly NamedExpression[], rows: ReadonlyMap<string, FoundRow>): Group[] {
  const named = expressions.map(({ ids }, place) => ({ place, ids, key: [...ids].sort().join(' ') }));
  named.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.place - b.place));
  const groups: { rows: Set<FoundRow>; places: number[]; bytes: number }[] = [];
  for (const { place, ids } of named) {
    const wanted = ids.flatMap((id) => rows.get(id) ?? []);
    const bytes = bytesOf(wanted);
    if (bytes > EXPRESSION_BYTES_MAX && wanted.length > 1) throw tooLarge();
    const last = groups.at(-1);
    const added = last ? bytesOf(wanted.filter((row) => !last.rows.has(row))) : 0;
    if (last && (added === 0 || last.bytes + added <= PIECE_BYTES_MAX)) {
      for (const row of wanted) last.rows.add(row);
      last.places.push(place);
      last.bytes += added;
    } else groups.push({ rows: new Set(wanted), places: [place], bytes });
  }
  return groups.map((group) => ({ rows: [...group.rows], places: group.places }));
}

function bytesOf(rows: readonly FoundRow[]): number {
  return rows.reduce((sum, row) => sum + sealedBytesOf(row), 0);
}

function tooLarge(): AppError {
  return new AppError(
    'invalid_expression',
    `The tokens that one expression names are together at most ${EXPRESSION_BYTES_MAX} bytes; name fewer of them in it.`,
  );
}
