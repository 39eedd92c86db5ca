import type { HeaderPairs } from './message-headers.js';
import { HEADER_NAME, HEADER_VALUE } from './message-headers.js';
import { OutboundError } from './outbound-error.js';

/** How the end of a body is found. */
export type AnswerFraming = 'none' | 'counted' | 'chunked' | 'to_the_end';

/** Everything in front of the body of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderPairs;
  readonly framing: AnswerFraming;
  /** Length of a counted body. */
  readonly bodyBytes: number;
  /** Nothing comes on the connection behind the message. */
  readonly isLast: boolean;
  /** How long the destination keeps the connection for another request: not at all, or as long as it likes if it does not say. */
  readonly keepMs: number;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** What frames a message has blanks around it at most: not every reader takes a tab there. */
const LENGTH = /^ *\d{1,15} *$/;
const CHUNKED = /^ *chunked *$/i;
const KEEP_SECONDS = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,9})/i;
/** A destination that closes after so many seconds may do so while a request is on its way. */
const KEEP_MARGIN_MS = 1_000;
const WITHOUT_BODY = new Set([204, 304]);

/** What the headers say about the message and its connection. */
interface Framed {
  /** These two with what stands around them. */
  lengths: string[];
  encodings: string[];
  connection: string[];
  keepAlive: string | undefined;
}

/**
 * Reads the head of an answer to a request with this method, from its first byte to the last line, without the empty one. More
 * is refused than the standard asks for: folded lines, line ends of one character, a length beside chunks, two lengths. Whoever
 * reads such a message in another way than we do would see other messages.
 */
export function readAnswerHead(text: string, method: string): AnswerHead {
  const lines = text.split('\r\n');
  const begun = STATUS_LINE.exec(lines[0] ?? '');
  if (begun === null) throw badAnswer();
  const isNewer = begun[1] === '1';
  const status = Number(begun[2]);
  const framed = nothingSaid();
  const headers: (readonly [string, string])[] = [];
  for (let at = 1; at < lines.length; at += 1) headers.push(readHeader(lines[at] ?? '', framed));
  const { framing, bodyBytes } = framingOf(framed, status, method, isNewer);
  const isLast = framing === 'to_the_end' || !isNewer || saysClose(framed);
  return { status, headers, framing, bodyBytes, isLast, keepMs: isLast ? 0 : keptMs(framed) };
}

/** What stands behind the chunks is held to the same rules, and says nothing about how a message is read. */
export function checkTrailer(line: string): void {
  const framed = nothingSaid();
  readHeader(line, framed);
  if (framed.lengths.length > 0 || framed.encodings.length > 0) throw badAnswer();
}

function nothingSaid(): Framed {
  return { lengths: [], encodings: [], connection: [], keepAlive: undefined };
}

function readHeader(line: string, framed: Framed): readonly [string, string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  const value = withoutBlanks(line, colon + 1);
  if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) throw badAnswer();
  noteFraming(name, value, line, framed);
  return [name, value];
}

/** Only names of these lengths are looked at. */
function noteFraming(name: string, value: string, line: string, framed: Framed): void {
  if (name.length === 14 && name.toLowerCase() === 'content-length') framed.lengths.push(line.slice(15));
  else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') framed.encodings.push(line.slice(18));
  else if (name.length === 10) {
    const lower = name.toLowerCase();
    if (lower === 'connection') framed.connection.push(value);
    else if (lower === 'keep-alive') framed.keepAlive = value;
  }
}

function framingOf({ lengths, encodings }: Framed, status: number, method: string, isChunkedKnown: boolean) {
  if (lengths.length > 1 || encodings.length > 1) throw badAnswer();
  const length = lengths[0];
  const encoding = encodings[0];
  if (length !== undefined && (encoding !== undefined || !LENGTH.test(length))) throw badAnswer();
  if (encoding !== undefined && (!isChunkedKnown || !CHUNKED.test(encoding))) throw badAnswer();
  if (method === 'HEAD' || status < 200 || WITHOUT_BODY.has(status)) return framed('none');
  if (encoding !== undefined) return framed('chunked');
  return length === undefined ? framed('to_the_end') : framed('counted', Number(length));
}

function framed(framing: AnswerFraming, bodyBytes = 0): Pick<AnswerHead, 'framing' | 'bodyBytes'> {
  return { framing, bodyBytes };
}

function saysClose({ connection }: Framed): boolean {
  return connection.some((value) => /(?:^|,)\s*close\s*(?:,|$)/i.test(value));
}

function keptMs({ keepAlive }: Framed): number {
  const seconds = keepAlive === undefined ? undefined : KEEP_SECONDS.exec(keepAlive)?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000 - KEEP_MARGIN_MS;
}

/** Blanks and tabs alone: whatever else stands around a value is not allowed there. */
function withoutBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

export function badAnswer(): OutboundError {
  return new OutboundError('bad_answer');
}
