import { decide } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Budget } from '../../expressions/budget.js';
import { createBudget } from '../../expressions/budget.js';
import type { TokenView } from '../../expressions/expressions.js';
import type { Json } from '../../kernel/json.js';
import { placed, recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import { FREE_BYTES_MAX, PIECE_BYTES_MAX, PIECE_TIMES, piecesOf } from '../find/large-pages.js';
import { tooManyTokens } from '../make/too-many.js';
import { OPENED_TIMES } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { takeRoom } from '../open/room.js';
import { subjectOf } from '../present/answer.js';
import type { Present } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { FoundRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import type { DetokenizeOptions } from './detokenize.js';
import type { NamedExpression } from './detokenize-large.js';
import { evaluateLarge } from './detokenize-large.js';
import { findExpressions, rebuildWith } from './find-expressions.js';
import { lookForAll, namedIn, namingField, numberAsText, tokenViewOf } from './named-tokens.js';
import { createRefusals } from './refused.js';
import { evaluateShown } from './shown-outputs.js';

/** A token that a preview names. One that is not there and one that is not granted look alike. */
export interface PreviewedToken {
  readonly id: string;
  /** Whether a call in the principal's name would get its value. */
  readonly granted: boolean;
}

export interface Preview {
  /** The same shape; an expression that is not shown stays as it was written. */
  readonly body: Json;
  /** Each once, in the order of the body. */
  readonly tokens: readonly PreviewedToken[];
}

/** One preview, with all that its tokens are looked at by. */
interface Asked {
  readonly options: DetokenizeOptions;
  readonly principal: Principal;
  readonly auditContext: AuditContext;
  readonly named: readonly NamedExpression[];
  /** The tokens that a text names. */
  readonly idsOf: ReadonlyMap<string, readonly string[]>;
  readonly rows: readonly FoundRow[];
  readonly budget: Budget;
  readonly present: Present;
  readonly refusals: ReturnType<typeof createRefusals>;
}

/** What was found out about tokens before any expression is looked at. */
interface Granted {
  readonly rows: readonly FoundRow[];
  /** Those of them whose mask shows something. */
  readonly shown: ReadonlySet<string>;
}

/**
 * Puts masks in place of expressions. Expressions work on the mask and on nothing else, so that no filter and no comparison
 * tells more of a value than its mask does, whatever the principal may read elsewhere.
 */
export async function preview(
  options: DetokenizeOptions,
  principal: Principal,
  auditContext: AuditContext,
  body: Json,
): Promise<Preview> {
  const { database, expressions, opener, tokensPerRequestMax } = options;
  const found = findExpressions(body);
  const budget = createBudget();
  const { named, ids } = namedIn(expressions, found, budget);
  // What cannot be read fails here, before it could matter which tokens there are. A call does not look twice, so looking
  // twice must not use up what a call may spend.
  const forReading = createBudget();
  for (const { path, text } of found) namingField(path, () => expressions.checkWithTokens(text, forReading));
  if (ids.length > tokensPerRequestMax) throw tooManyTokens(tokensPerRequestMax);
  const looked = await lookForAll(opener, principal.tenantId, ids, auditContext.atMs);
  const rows = looked.filter((row) => row !== undefined);
  const present = createPresent(options, () => budget, auditContext);
  const refusals = createRefusals(database, auditContext);
  const idsOf = new Map(named.map((each) => [each.text, each.ids]));
  const asked: Asked = { options, principal, auditContext, named, idsOf, rows, budget, present, refusals };
  const { granted, values } = await evaluateGranted(asked);
  if (granted.length > 0) {
    await database.append(principal.tenantId, (tx) =>
      recordTouched(tx, auditContext, TOKEN_EVENTS.previewed_in_proxy, granted.map(placed)),
    );
  }
  const isGranted = new Set(granted.map(({ id }) => id));
  return { body: rebuildWith(body, values), tokens: ids.map((id) => ({ id, granted: isGranted.has(id) })) };
}

async function evaluateGranted(
  asked: Asked,
): Promise<{ readonly granted: readonly FoundRow[]; readonly values: readonly Json[] }> {
  const { options, principal, auditContext, rows } = asked;
  const bytes = rows.reduce((sum, row) => sum + sealedBytesOf(row), 0);
  const small = rows.filter((row) => !isLarge(row));
  if (small.length < rows.length || bytes > PIECE_BYTES_MAX) return evaluateInPieces(asked);
  if (bytes > FREE_BYTES_MAX) await takeRoom(options.largeWork, principal.tenantId, auditContext, bytes * OPENED_TIMES);
  const tokens = await options.opener.open(principal.tenantId, small);
  // As of those in pieces: what is decided uses up nothing, or it would tell of tokens that are not granted.
  const first = { ...asked, present: createPresent(options, createBudget, auditContext) };
  const granted = tokens.filter((token) => isGranted(first, token));
  const views = viewsOf(asked, granted);
  const values = await logged(asked, granted.map(rowOf), () => {
    // A mask that was cut short because too much was asked for is none.
    asked.budget.spend(0);
    return asked.named.map(({ text }) => evaluate(asked, text, views));
  });
  return { granted: granted.map(rowOf), values };
}

/** The same for tokens that are too large to be open all at once. */
async function evaluateInPieces(asked: Asked) {
  const { options, principal, auditContext, named, budget, refusals } = asked;
  const granted = await grantedInPieces(asked);
  // Only what is shown is opened again; the expressions on others stay.
  const shownRows = granted.rows.filter(({ id }) => granted.shown.has(id));
  const values = await logged(asked, granted.rows, () =>
    evaluateLarge(options, {
      ...{ principal, auditContext, budget, rows: shownRows, noting: refusals.noting },
      expressions: named.map(({ text, ids }) => ({ text, ids: ids.filter((id) => granted.shown.has(id)) })),
      mayBeGone: true,
      check: () => undefined,
      viewsOf: (tokens) => viewsOf(asked, tokens),
      evaluate: (text, views) => {
        budget.spend(0);
        return evaluate(asked, text, views);
      },
    }),
  );
  return { granted: granted.rows, values };
}

/** What goes while it is being looked at is not there. */
async function grantedInPieces(asked: Asked): Promise<Granted> {
  const { options, principal, auditContext, rows } = asked;
  const { opener, largeWork } = options;
  const largest = rows.reduce((most, row) => Math.max(most, sealedBytesOf(row)), PIECE_BYTES_MAX);
  await takeRoom(largeWork, principal.tenantId, auditContext, largest * PIECE_TIMES);
  // Looking at masks before the expressions must not use up what is theirs.
  const first = { ...asked, present: createPresent(options, createBudget, auditContext) };
  const granted = new Set<string>();
  const shown = new Set<string>();
  for (const piece of piecesOf(rows)) {
    await opener.openPaced(principal.tenantId, piece, auditContext.atMs, (tokens) => {
      for (const token of tokens.filter((each) => isGranted(first, each))) {
        granted.add(token.row.id);
        if (first.present.data(token, 'mask', auditContext.atMs) !== undefined) shown.add(token.row.id);
      }
    });
  }
  return { rows: rows.filter(({ id }) => granted.has(id)), shown };
}

/** As a call decides: a rule that would leave it nothing to send grants nothing. */
function isGranted({ principal, auditContext, present }: Asked, token: OpenRow): boolean {
  const transform = decide(principal, 'token:use', subjectOf(token));
  if (transform === undefined) return false;
  return transform === 'reveal' || present.data(token, transform, auditContext.atMs) !== undefined;
}

/** Masks of granted tokens. One without a mask has no view: nothing of it is shown. */
function viewsOf({ present, auditContext }: Asked, tokens: readonly OpenRow[]): ReadonlyMap<string, TokenView> {
  return new Map(
    tokens.flatMap((token) => {
      const data = present.data(token, 'mask', auditContext.atMs);
      if (data === undefined) return [];
      return [[token.row.id, tokenViewOf(token, numberAsText(data), present.fingerprint(token, 'mask'))] as const];
    }),
  );
}

function evaluate({ options, idsOf, budget }: Asked, text: string, views: ReadonlyMap<string, TokenView>): Json {
  return evaluateShown(options.expressions, { text, ids: idsOf.get(text) ?? [] }, views, budget);
}

/** What fails after tokens were opened is in the log before it is told. */
async function logged<T>({ refusals }: Asked, rows: readonly FoundRow[], work: () => T | Promise<T>): Promise<T> {
  try {
    return await refusals.noting(work);
  } catch (error) {
    throw await refusals.logged(rows.map(placed), error);
  }
}

function rowOf({ row }: OpenRow): OpenRow['row'] {
  return row;
}
