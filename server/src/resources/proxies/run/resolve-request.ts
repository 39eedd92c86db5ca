import type { Principal } from '../../../access/principal.js';
import type { AuditContext, Entry } from '../../../audit/entry.js';
import { holdsExpression } from '../../../expressions/expression-text.js';
import { AppError } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import { hasMoreValues, parseJsonBody } from '../../../kernel/json-guard.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import type { Vault } from '../../../vault/index.js';
import type { BodyKind } from './body-kind.js';
import type { TextPiece } from './text-pieces.js';
import { joinPieces, piecesOfForm, piecesOfQuery, piecesOfText } from './text-pieces.js';
import { MESSAGE_VALUES_MAX } from './transform.js';

/** The parts of a request that can hold expressions. */
export interface RequestParts {
  readonly query: string;
  readonly headers: HeaderPairs;
  /** Undefined for one that goes on in pieces, or for none. */
  readonly body: Buffer | undefined;
  readonly bodyKind: BodyKind;
}

export interface ResolvedParts {
  readonly query: string;
  readonly headers: HeaderPairs;
  readonly body: Buffer | undefined;
}

/** In whose name, and what has to be durable before a value is handed over. */
export interface ResolveContext {
  readonly vault: Pick<Vault, 'use'>;
  /** Undefined where nobody's rights are there: then tokens are refused. */
  readonly principal: Principal | undefined;
  readonly tenantId: string;
  readonly auditContext: AuditContext;
  /** Of the call, in the transaction of the tokens' entries. */
  readonly entry: Entry;
  /** Writes it where there is nobody to use tokens. */
  readonly write: (entry: Entry) => Promise<void>;
}

/** What is asked of the vault at once, so that all rights, all tokens and all entries are settled before anything is sent. */
type Wanted = {
  readonly query: string[];
  readonly headers: string[];
  readonly body: Json;
};

const ESCAPED_BRACE = /\\u007b/i;

/** Puts values in place of the expressions in query, headers and body: all of them, or none. */
export async function resolveRequest(context: ResolveContext, parts: RequestParts): Promise<ResolvedParts> {
  const query = parts.query === '' ? [] : piecesOfQuery(parts.query);
  const headers = parts.headers.filter(([, value]) => holdsExpression(value));
  const body = readExpressionBody(parts, joinPieces);
  const wanted: Wanted = {
    query: expressionsIn(query),
    headers: headers.map(([, value]) => value),
    body: body.wanted,
  };
  const hasNone = wanted.query.length === 0 && wanted.headers.length === 0 && body.isPlain;
  if (hasNone && context.principal === undefined) {
    await context.write(context.entry);
    return parts;
  }
  if (context.principal === undefined) throw nobodysTokens();
  const { vault, principal, auditContext, entry } = context;
  const values = await vault.use(principal, auditContext, hasNone ? {} : wanted, 'proxy', [entry]);
  if (hasNone || !isJsonObject(values)) return parts;
  const texts = textsOf(values.headers);
  let at = 0;
  return {
    query: joinPieces(query, textsOf(values.query)),
    headers: parts.headers.map(([name, value]) => [name, holdsExpression(value) ? headerText(texts[at++]) : value]),
    body: body.isPlain ? parts.body : body.write(values.body ?? null),
  };
}

/** A body as far as it holds expressions. */
export interface ReadBody {
  /** Without an expression: it goes on as it came, byte for byte. */
  readonly isPlain: boolean;
  readonly wanted: Json;
  readonly write: (values: Json) => Buffer;
}

const PLAIN: ReadBody = { isPlain: true, wanted: null, write: () => Buffer.alloc(0) };

export function readExpressionBody(
  { body, bodyKind }: Pick<RequestParts, 'body' | 'bodyKind'>,
  join: typeof joinPieces,
): ReadBody {
  if (body === undefined || bodyKind === 'other') return PLAIN;
  if (bodyKind === 'json') {
    if (!mayHoldInJson(body)) return PLAIN;
    return { isPlain: false, wanted: parse(body), write: (values) => Buffer.from(JSON.stringify(values)) };
  }
  const text = body.toString('utf8');
  const mayHold = holdsExpression(text) || ESCAPED_BRACE.test(text) || (bodyKind === 'form' && /%7b%7b/i.test(text));
  if (!mayHold) return PLAIN;
  const pieces = bodyKind === 'form' ? piecesOfForm(text) : piecesOfText(text);
  const wanted = expressionsIn(pieces);
  return { isPlain: wanted.length === 0, wanted, write: (values) => Buffer.from(join(pieces, textsOf(values))) };
}

/** Looks at the bytes: of most bodies no text has to be made. */
function mayHoldInJson(body: Buffer): boolean {
  if (body.includes('{{') || body.includes('{%')) return true;
  return body.includes('\\u007') && ESCAPED_BRACE.test(body.toString('latin1'));
}

export function expressionsIn(pieces: readonly TextPiece[]): string[] {
  return pieces.filter(({ isExpression }) => isExpression).map(({ text }) => text);
}

export function textsOf(values: Json | undefined): string[] {
  return Array.isArray(values) ? values.map(textOf) : [];
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value goes into a header as its bytes; what would end the header is refused by whoever sends it. */
function headerText(value = ''): string {
  return Buffer.from(value).toString('latin1');
}

/** Many small values take far longer than their length says. */
function parse(body: Buffer): Json {
  if (hasMoreValues(body, MESSAGE_VALUES_MAX)) {
    throw new AppError('payload_too_large', `A body with expressions has at most ${MESSAGE_VALUES_MAX} values.`);
  }
  return parseJsonBody(body) as Json; // It came out of a parser.
}

function nobodysTokens(): AppError {
  return new AppError('access_denied', 'This Proxy has no Application, so it can use no tokens.');
}
