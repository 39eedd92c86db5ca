import type { StreamAnswer } from '../../../http/routes/stream-route.js';
import { passedHeaders } from '../../../http/transport/foreign-headers.js';
import type { Flow } from '../../../kernel/flow.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import { headerValue } from '../../../outbound/message-headers.js';
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

/** Of our headers. */
export interface OurPrefixes {
  readonly prefix: string;
  readonly prefixes: readonly string[];
}

/**
 * The head of an answer that comes from somebody else, by the rules for those. An address to go on to is told under another name:
 * clients that follow one by themselves would send their key along.
 */
export function headOf(
  status: number,
  headers: HeaderPairs,
  body: keyof typeof KEPT,
  { prefix, prefixes }: OurPrefixes,
): string[] {
  const isRedirect = status >= 300 && status < 400;
  const passed = passedHeaders(headers, prefixes, KEPT[body][isRedirect ? 'redirect' : 'other']);
  if (!passed) throw new OutboundError('bad_answer');
  const location = isRedirect ? headerValue(headers, 'location') : undefined;
  if (location !== undefined) passed.push(`${prefix}-PROXY-DESTINATION-LOCATION`, location);
  passed.push(`${prefix}-PROXY-DESTINATION-STATUS`, String(status));
  return passed;
}

/** As it came: at once where it is short, else piece by piece, under the eyes of `watch`. */
export async function passedAnswer(
  answer: OutboundAnswer,
  ours: OurPrefixes,
  method: string,
  watch: (flow: Flow) => Flow,
): Promise<StreamAnswer> {
  const { status, readShort } = answer;
  if (readShort) {
    const headers = headOf(status, answer.headers, 'whole', ours);
    return { status, headers, body: await readShort() };
  }
  const hasNone = method === 'HEAD' || NO_BODY.has(status);
  const headers = answer.headers.filter(([name]) => status !== 204 || name.toLowerCase() !== 'content-length');
  return { status, headers: headOf(status, headers, 'pieces', ours), body: hasNone ? undefined : watch(answer.flow) };
}
