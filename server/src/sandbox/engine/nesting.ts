const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Brackets and braces differ in this bit. */
const LOWER = 0x20;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Whether lists and objects are nested deeper than that, in JSON or several of them one behind the other. */
export function isNestedDeeper(bytes: Buffer, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if ((byte | LOWER) === BRACE_OPEN) depth += 1;
    else if ((byte | LOWER) === BRACE_CLOSE) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** The next quote that is not part of the text: one behind an even number of backslashes. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    at = bytes.indexOf(QUOTE, at);
    if (at === -1) return bytes.length;
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}
