const SHORT_BIN_DIGITS = 6;
const LONG_BIN_DIGITS = 8;
const DIGITS_OF_LONG_BIN = 16;
const LAST_DIGITS = 4;

/** What a separator is not: neither space nor dash. */
export function isNoSeparator(code: number): boolean {
  return code !== 0x20 && code !== 0x2d;
}

export interface CardEnds {
  /** How many symbols the number has. */
  readonly symbols: number;
  /** How many of them are asked to be shown. */
  readonly shown: number;
  /** Offsets in the text: before `from` stands the BIN, from `to` on the last four. */
  readonly from: number;
  readonly to: number;
}

/** Counts by digit, not by position, so separators between them do not eat into the BIN. */
export function cardEnds(
  text: string,
  showsBin: boolean,
  showsLast4: boolean,
  isSymbol: (code: number) => boolean,
): CardEnds {
  let symbols = 0;
  for (let at = 0; at < text.length; at += 1) if (isSymbol(text.charCodeAt(at))) symbols += 1;
  const first = showsBin ? (symbols < DIGITS_OF_LONG_BIN ? SHORT_BIN_DIGITS : LONG_BIN_DIGITS) : 0;
  const last = showsLast4 ? LAST_DIGITS : 0;
  let from = 0;
  for (let passed = 0; passed < first && from < text.length; from += 1) {
    if (isSymbol(text.charCodeAt(from))) passed += 1;
  }
  let to = text.length;
  for (let passed = 0; passed < last && to > 0; to -= 1) if (isSymbol(text.charCodeAt(to - 1))) passed += 1;
  return { symbols, shown: first + last, from, to };
}
