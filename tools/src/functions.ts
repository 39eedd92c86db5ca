/** A function as it stands in a source: from the first line of its signature to its closing bracket. */
export interface FunctionSpan {
  /** From 1. */
  readonly line: number;
  readonly lines: number;
  readonly signature: string;
}

const CONTROL = /^\s*(?:\} )?(?:else )?(?:if|for|while|switch|catch|do|try|else|return|throw|await)\b/;
const METHOD = /^\s*(?:(?:static|async|get|set|override|readonly|private|protected|public) )*\*?#?[\w$]+(?:<.*>)?\(/;
const FUNCTION = /\bfunction\b/;
/** A body in braces after a signature, or after an arrow; or an arrow whose value begins in a bracket or on the next line. */
const OPENS_BODY = /(?:\)|\): .+|^\s*>.*) \{$/;
const OPENS_ARROW = /=>(?: [[({]+)?$/;

/**
 * The functions, methods and arrows of a source that take more than one line. The formatter makes indentation reliable: a body
 * ends with the first closing bracket at the indentation of the line its signature begins on, and a signature that takes
 * several lines begins on the last line before its end that has the same indentation and is no bracket.
 */
export function functionsOf(text: string): FunctionSpan[] {
  const lines = text.split('\n');
  const found: FunctionSpan[] = [];
  for (const [at, line] of lines.entries()) {
    const isArrow = OPENS_ARROW.test(line);
    if (!isArrow && !OPENS_BODY.test(line)) continue;
    const start = signatureStart(lines, at);
    const signature = lines[start] ?? '';
    if (!isArrow && (CONTROL.test(signature) || !(FUNCTION.test(signature) || METHOD.test(signature)))) continue;
    const end = line.endsWith('=>') ? lastIndented(lines, at) : closingLine(lines, at);
    if (end !== undefined) found.push({ line: start + 1, lines: end - start + 1, signature: signature.trim() });
  }
  return found;
}

function signatureStart(lines: readonly string[], end: number): number {
  const indent = indentOf(lines[end] ?? '');
  if (!/^\s*[)\]}>]/.test(lines[end] ?? '')) return end;
  for (let at = end - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    if (line !== '' && indentOf(line) <= indent && !/^\s*[)\]}>]/.test(line)) return at;
  }
  return end;
}

function closingLine(lines: readonly string[], start: number): number | undefined {
  const indent = indentOf(lines[start] ?? '');
  const after = lines.slice(start + 1).findIndex((line) => /^\s*[)\]}]/.test(line) && indentOf(line) === indent);
  return after === -1 ? undefined : start + 1 + after;
}

/** The last line of a value that stands indented below its arrow. */
function lastIndented(lines: readonly string[], start: number): number {
  const indent = indentOf(lines[start] ?? '');
  const after = lines.slice(start + 1).findIndex((line) => line === '' || indentOf(line) <= indent);
  return after === -1 ? lines.length - 1 : start + after;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
