import type { StreamAnswer } from '../../../http/routes/stream-route.js';
import { passedHeaders } from '../../../http/transport/foreign-headers.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import type { OutboundAnswer } from '../../../outbound/outbound.js';
import { OutboundError } from '../../../outbound/outbound-error.js';

/** True of the bytes that go with them, so they pass with them. */
const OF_THE_BODY = new Set(['content-encoding', 'content-length']);
const OF_THE_BODY_MADE = new Set<string>();
const NO_BODY = new Set([204, 304]);

export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderPairs;
  /** Of our headers. */
  readonly prefix: string;
  readonly prefixes: readonly string[];
  /** Made here, and not as it came. */
  readonly isMade: boolean;
}

/**
 * The head of an answer that comes from somebody else, by the rules for those. An address to go on to is told under another name:
 * clients that follow one by themselves would send their key along.
 */
export function headOf({ status, headers, prefix, prefixes, isMade }: AnswerHead): string[] {
  const isRedirect = status >= 300 && status < 400;
  const kept = isMade ? OF_THE_BODY_MADE : OF_THE_BODY;
  const passed = passedHeaders(headers, prefixes, isRedirect ? kept : new Set([...kept, 'location']));
  if (!passed) throw new OutboundError('bad_answer');
  const [, location] = headers.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (isRedirect && location !== undefined) passed.push(`${prefix}-PROXY-DESTINATION-LOCATION`, location);
  passed.push(`${prefix}-PROXY-DESTINATION-STATUS`, String(status));
  return passed;
}

/** As it came, piece by piece. */
export function streamedAnswer(
  answer: OutboundAnswer,
  head: Omit<AnswerHead, 'status' | 'headers' | 'isMade'>,
  method: string,
): StreamAnswer {
  const { status } = answer;
  const hasNone = method === 'HEAD' || NO_BODY.has(status);
  const headers = answer.headers.filter(([name]) => status !== 204 || name.toLowerCase() !== 'content-length');
  return {
    status,
    headers: headOf({ ...head, status, headers, isMade: false }),
    ...(!hasNone && { body: answer.body }),
  };
}
