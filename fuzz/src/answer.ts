/** One answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly ms: number;
}

export interface Parsed {
  readonly answer: Omit<Answer, 'ms'>;
  /** Bytes it took. */
  readonly length: number;
}

const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const CONTINUE = 100;

/**
 * The first whole answer in the bytes; undefined while it is not all there. Interim answers are skipped. Throws on what is
 * no HTTP answer at all.
 */
export function parseAnswer(bytes: Buffer, isHead: boolean): Parsed | undefined {
  let from = 0;
  for (;;) {
    const headEnd = bytes.indexOf(HEAD_END, from);
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = bytes.toString('latin1', from, headEnd).split('\r\n');
    const [, code] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine) ?? [];
    if (code === undefined) throw new Error(`not an HTTP answer: ${JSON.stringify(statusLine.slice(0, 100))}`);
    const status = Number(code);
    const bodyAt = headEnd + HEAD_END.length;
    if (status === CONTINUE) {
      from = bodyAt;
      continue;
    }
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    const body = bodyOf(bytes, bodyAt, isHead || status === 204 || status === 304, headers);
    return body && { answer: { status, headers, body: body.text }, length: body.end };
  }
}

function bodyOf(
  bytes: Buffer,
  at: number,
  isEmpty: boolean,
  headers: ReadonlyMap<string, string>,
): { text: string; end: number } | undefined {
  if (isEmpty) return { text: '', end: at };
  const length = headers.get('content-length');
  if (length === undefined && headers.get('transfer-encoding') === 'chunked') return chunksOf(bytes, at);
  if (length === undefined) throw new Error('an answer without a length');
  const end = at + Number(length);
  return bytes.length < end ? undefined : { text: bytes.toString('utf8', at, end), end };
}

/** A large page comes in pieces, each behind its size in hexadecimal digits; an empty one ends it. */
function chunksOf(bytes: Buffer, at: number): { text: string; end: number } | undefined {
  const pieces: Buffer[] = [];
  for (let from = at; ; ) {
    const sizeEnd = bytes.indexOf(LINE_END, from);
    if (sizeEnd === -1) return undefined;
    const digits = bytes.toString('latin1', from, sizeEnd);
    if (!/^[0-9a-f]+$/i.test(digits)) throw new Error(`not a size of a piece: ${JSON.stringify(digits.slice(0, 100))}`);
    const start = sizeEnd + LINE_END.length;
    const end = start + Number.parseInt(digits, 16);
    const next = end + LINE_END.length;
    if (bytes.length < next) return undefined;
    if (!bytes.subarray(end, next).equals(LINE_END)) throw new Error('a piece is longer than its size');
    if (end === start) return { text: Buffer.concat(pieces).toString('utf8'), end: next };
    pieces.push(bytes.subarray(start, end));
    from = next;
  }
}
