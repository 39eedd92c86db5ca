import { holdsExpression } from '../../../expressions/expression-text.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import type { Preview, PreviewedToken } from '../../../vault/index.js';
import type { BodyKind } from '../run/body-kind.js';
import { expressionsIn, readExpressionBody, textsOf } from '../run/resolve-request.js';
import type { TextPiece } from '../run/text-pieces.js';
import { joinPieces, piecesOfQuery } from '../run/text-pieces.js';

/** The parts of a request that can hold expressions. */
export interface ShownParts {
  readonly query: string;
  readonly headers: HeaderPairs;
  readonly body: Json | undefined;
}

export interface ShownRequest extends ShownParts {
  readonly tokens: readonly PreviewedToken[];
}

/** A body as far as it holds expressions, and what it is with others in their place. */
interface ReadValue {
  readonly wanted: Json;
  readonly write: (values: Json) => Json | undefined;
}

/** Puts what the vault shows in place of the expressions. They are found as in a call. */
export async function showRequest(
  show: (wanted: Json) => Promise<Preview>,
  parts: ShownParts,
  bodyKind: BodyKind,
): Promise<ShownRequest> {
  const query = piecesOfQuery(parts.query);
  const body = readValue(parts.body, bodyKind);
  const headers = parts.headers.map(([, value]) => value).filter(holdsExpression);
  const { body: shown, tokens } = await show({ query: expressionsIn(query), headers, body: body.wanted });
  const values = isJsonObject(shown) ? shown : {};
  const texts = textsOf(values.headers);
  let at = 0;
  return {
    query: joinShown(query, textsOf(values.query)),
    headers: parts.headers.map(([name, value]) => [name, holdsExpression(value) ? (texts[at++] ?? '') : value]),
    body: body.write(values.body ?? null),
    tokens,
  };
}

function readValue(body: Json | undefined, bodyKind: BodyKind): ReadValue {
  if (body === undefined) return { wanted: null, write: () => undefined };
  if (typeof body !== 'string') return { wanted: body, write: (values) => values };
  const { isPlain, wanted, write } = readExpressionBody({ body: Buffer.from(body), bodyKind }, joinShown);
  return isPlain ? { wanted: null, write: () => body } : { wanted, write: (values) => write(values).toString('utf8') };
}

/** As in a call, but for expressions that were left: those stay as they were written, in their encoding. */
function joinShown(pieces: readonly TextPiece[], values: readonly string[]): string {
  let at = 0;
  return pieces
    .map((piece) => {
      if (!piece.isExpression) return piece.text;
      const value = values[at] ?? '';
      at += 1;
      return value === piece.text ? piece.source : joinPieces([piece], [value]);
    })
    .join('');
}
