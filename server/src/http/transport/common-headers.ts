import type { RequestContext } from './context.js';

const NOT_SNIFFED = ['X-Content-Type-Options', 'nosniff'];
/** For the Portal's own origin alone: in no frame, as no part of another page, and without a trace in what is asked for next. */
const OF_PORTAL = [
  ...['X-Frame-Options', 'DENY', 'Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ...['Referrer-Policy', 'no-referrer', 'Cross-Origin-Resource-Policy', 'same-origin'],
];
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, Location';

type Readers = 'any origin' | 'own origin' | 'the Portal';

/**
 * What every answer says: its trace id, that it is not sniffed, where keys are used that any origin may read it, on the Portal
 * that no other may, and what is given besides. The list is put together once for each prefix; an answer has a copy. Files of
 * the Portal have a policy of their own.
 */
export function createCommonHeaders(): (
  context: RequestContext,
  others: readonly string[],
  isFile?: boolean,
) => string[] {
  const lists = {
    'any origin': createLists('any origin'),
    'own origin': createLists('own origin'),
    'the Portal': createLists('the Portal'),
  };
  return (context, others, isFile = false) => {
    const headers = lists[readersOf(context, isFile)](context.headers.prefix, others).slice();
    headers[1] = context.traceId;
    return headers;
  };
}

function readersOf({ isCrossOrigin, isOfPortal }: RequestContext, isFile: boolean): Readers {
  if (isCrossOrigin) return 'any origin';
  return isOfPortal && !isFile ? 'the Portal' : 'own origin';
}

function createLists(readers: Readers): (prefix: string, others: readonly string[]) => readonly string[] {
  const byOthers = new Map<readonly string[], Map<string, readonly string[]>>();

  function listOf(prefix: string, others: readonly string[]): readonly string[] {
    const exposed = `${prefix}-TRACE-ID, ${prefix}-PROXY-DESTINATION-STATUS, ${EXPOSED}`;
    const told = {
      'any origin': ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposed],
      'own origin': [],
      'the Portal': OF_PORTAL,
    };
    return [`${prefix}-TRACE-ID`, '', ...NOT_SNIFFED, ...told[readers], ...others];
  }

  return (prefix, others) => {
    let byPrefix = byOthers.get(others);
    if (byPrefix === undefined) {
      byPrefix = new Map();
      byOthers.set(others, byPrefix);
    }
    let list = byPrefix.get(prefix);
    if (list === undefined) {
      list = listOf(prefix, others);
      byPrefix.set(prefix, list);
    }
    return list;
  };
}

/** Whether a flat list of names and values has this name, which is given in lower case. */
export function hasName(headers: readonly string[], name: string): boolean {
  return headers.some((text, at) => at % 2 === 0 && text.toLowerCase() === name);
}
