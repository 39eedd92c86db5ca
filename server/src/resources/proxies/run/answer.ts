import type { StreamAnswer } from '../../../http/routes/stream-route.js';
import { passedHeaders } from '../../../http/transport/foreign-headers.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import type { OutboundAnswer } from '../../../outbound/outbound.js';
import { OutboundError } from '../../../outbound/outbound-error.js';

/** True of the bytes that go with them, so they pass with them. */
const OF_THE_BODY = new Set(['content-encoding', 'content-length']);
const OF_WHOLE_BODY = new Set(['content-encoding']);
const OF_THE_BODY_MADE = new Set<string>();
const withLocation = (names: ReadonlySet<string>): ReadonlySet<string> => new Set([...names, 'location']);
const KEPT = {
  pieces: { redirect: OF_THE_BODY, other: withLocation(OF_THE_BODY) },
  whole: { redirect: OF_WHOLE_BODY, other: withLocation(OF_WHOLE_BODY) },
  made: { redirect: OF_THE_BODY_MADE, other: withLocation(OF_THE_BODY_MADE) },
} as const;
const NO_BODY = new Set([204, 304]);

export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderPairs;
  /** Of our headers. */
  readonly prefix: string;
  readonly prefixes: readonly string[];
  /** As it came and in pieces, as it came and whole, or made here. */
  readonly body: 'pieces' | 'whole' | 'made';
}

/**
 * The head of an answer that comes from somebody else, by the rules for those. An address to go on to is told under another name:
 * clients that follow one by themselves would send their key along.
 */
export function headOf({ status, headers, prefix, prefixes, body }: AnswerHead): string[] {
  const isRedirect = status >= 300 && status < 400;
  const passed = passedHeaders(headers, prefixes, KEPT[body][isRedirect ? 'redirect' : 'other']);
  if (!passed) throw new OutboundError('bad_answer');
  const [, location] = headers.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (isRedirect && location !== undefined) passed.push(`${prefix}-PROXY-DESTINATION-LOCATION`, location);
  passed.push(`${prefix}-PROXY-DESTINATION-STATUS`, String(status));
  return passed;
}

type OurHead = Pick<AnswerHead, 'prefix' | 'prefixes'>;

/** As it came: at once where it is short, else piece by piece. */
export async function passedAnswer(answer: OutboundAnswer, head: OurHead, method: string): Promise<StreamAnswer> {
  const { status, readShort } = answer;
  if (readShort) {
    const headers = headOf({ ...head, status, headers: answer.headers, body: 'whole' });
    return { status, headers, body: await readShort() };
  }
  const hasNone = method === 'HEAD' || NO_BODY.has(status);
  const headers = answer.headers.filter(([name]) => status !== 204 || name.toLowerCase() !== 'content-length');
  return {
    status,
    headers: headOf({ ...head, status, headers, body: 'pieces' }),
    ...(!hasNone && { body: answer.flow }),
  };
}
