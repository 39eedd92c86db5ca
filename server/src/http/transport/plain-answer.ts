import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../kernel/clock.js';

/** How long an idle connection stays open; the answers say so. */
export const KEEP_ALIVE_SECONDS = 72;

/** What an answer says on a connection that stays open. */
export const KEPT_OPEN: readonly string[] = ['Connection', 'keep-alive', 'Keep-Alive', `timeout=${KEEP_ALIVE_SECONDS}`];

const SECOND_MS = 1_000;

/** An answer like most: JSON in plain ASCII, on a connection that stays open, without headers of its own. */
export interface PlainAnswer {
  readonly status: number;
  readonly prefix: string;
  readonly traceId: string;
  readonly body: string;
}

/** What Node keeps of an answer until it leaves: once there is a head, none is made. */
interface Inside {
  _header?: string | null;
}

/** True if the answer was sent; false if it has to go the ordinary way. */
export type SendPlain = (response: ServerResponse, answer: PlainAnswer) => boolean;

/**
 * Sends head and body as one text in one write. Node would check and join ten headers of which only three differ from one
 * answer to the next, and that is a tenth of a small request. It reaches into the platform: where the member is not the
 * one we know, nothing is done, and a test compares each byte with what Node writes itself.
 */
export function createSendPlain(clock: Clock, headers: (prefix: string) => readonly string[]): SendPlain {
  const lines = new Map<string, string>();
  const dateOf = createDateText(clock);
  const keptOpen = linesOf(KEPT_OPEN);

  /** The lines that are the same in all of them. */
  function linesFor(prefix: string): string {
    let text = lines.get(prefix);
    if (text === undefined) {
      text = linesOf(headers(prefix));
      lines.set(prefix, text);
    }
    return text;
  }

  return (response, { status, prefix, traceId, body }) => {
    const inside = response as Inside; // Optional, because a later release may do without it.
    if (inside._header !== null || !response.shouldKeepAlive) return false;
    response.statusCode = status;
    inside._header =
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${prefix}-TRACE-ID: ${traceId}\r\n${linesFor(prefix)}` +
      `Content-Length: ${body.length}\r\n${keptOpen}Date: ${dateOf()}\r\n\r\n${body}`;
    response.end();
    return true;
  };
}

function linesOf(headers: readonly string[]): string {
  let text = '';
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return text;
}

/** The date as headers have it, made once a second. */
function createDateText(clock: Clock): () => string {
  let text = '';
  let second = Number.NaN;
  return () => {
    const now = Math.floor(clock.nowMs() / SECOND_MS);
    if (now !== second) {
      second = now;
      text = new Date(now * SECOND_MS).toUTCString();
    }
    return text;
  };
}
