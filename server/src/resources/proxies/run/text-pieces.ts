import { OUTPUTS_MAX, outputsIn, tooManyOutputs } from '../../../expressions/token-template.js';

/** A piece of text: an expression, decoded, or what stands around it. */
export interface TextPiece {
  readonly text: string;
  /** The same as it was written. */
  readonly source: string;
  readonly isExpression: boolean;
  /** What comes in its place has to be encoded as it was, or it would end the value it stands in. */
  readonly isEncoded: boolean;
}

/** As clients write `{{ … }}` into a URL or a form. */
const OPENING = /%7b%7b/gi;
const CLOSING = /%7d%7d/gi;

/** Text with its expressions. One with tags is an expression as a whole. */
export function piecesOfText(text: string, options: { readonly isEncoded?: boolean } = {}): TextPiece[] {
  const outputs = outputsIn(text, options);
  if (outputs === undefined) return [{ text, source: text, isExpression: true, isEncoded: false }];
  return split(text, outputs, (found) => ({ text: found, source: found, isExpression: true, isEncoded: false }));
}

/** The same of a form: expressions may be encoded there, and then their values are too. Plain ones are replaced as in any text. */
export function piecesOfForm(form: string): TextPiece[] {
  return piecesOfText(form, { isEncoded: true }).flatMap((piece) =>
    piece.isExpression ? [piece] : encodedIn(piece.text),
  );
}

/** The same of a query, where every value is encoded. */
export function piecesOfQuery(query: string): TextPiece[] {
  return piecesOfForm(query).map((piece) =>
    piece.isExpression && !piece.isEncoded ? { ...piece, text: decoded(piece.text), isEncoded: true } : piece,
  );
}

/** Puts values in the place of expressions, in their order. */
export function joinPieces(pieces: readonly TextPiece[], values: readonly string[]): string {
  let at = 0;
  return pieces
    .map(({ text, isExpression, isEncoded }) => {
      if (!isExpression) return text;
      const value = values[at] ?? '';
      at += 1;
      // Half a pair of surrogates has no encoding.
      return isEncoded ? encodeURIComponent(value.toWellFormed()) : value;
    })
    .join('');
}

function encodedIn(text: string): TextPiece[] {
  const outputs: { from: number; to: number }[] = [];
  OPENING.lastIndex = 0;
  for (let open = OPENING.exec(text); open !== null; open = OPENING.exec(text)) {
    CLOSING.lastIndex = OPENING.lastIndex;
    // Nor does any opening behind it have an end.
    if (CLOSING.exec(text) === null) break;
    if (outputs.length === OUTPUTS_MAX) throw tooManyOutputs();
    outputs.push({ from: open.index, to: CLOSING.lastIndex });
    OPENING.lastIndex = CLOSING.lastIndex;
  }
  return split(text, outputs, (found) => ({
    text: decoded(found),
    source: found,
    isExpression: true,
    isEncoded: true,
  }));
}

function split(
  text: string,
  outputs: readonly { readonly from: number; readonly to: number }[],
  pieceOf: (found: string) => TextPiece,
): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const output of outputs) {
    pieces.push(plain(text.slice(from, output.from)));
    pieces.push(pieceOf(text.slice(output.from, output.to)));
    from = output.to;
  }
  pieces.push(plain(text.slice(from)));
  return pieces.filter((piece) => piece.isExpression || piece.text !== '');
}

function plain(text: string): TextPiece {
  return { text, source: text, isExpression: false, isEncoded: false };
}

/** In queries and forms a plus is a space. What cannot be decoded stays for the expression language to refuse. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
