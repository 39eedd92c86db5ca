import type { RequestContext } from './context.js';

const NOT_SNIFFED = ['X-Content-Type-Options', 'nosniff'];
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, Location';

/**
 * What every answer says: its trace id, that it is not sniffed, where keys are used that any origin may read it, and what is
 * given besides. The list is put together once for each prefix; an answer has a copy.
 */
export function createCommonHeaders(): (context: RequestContext, others: readonly string[]) => string[] {
  const lists = { crossOrigin: createLists(true), sameOrigin: createLists(false) };
  return ({ traceId, isCrossOrigin, headers: { prefix } }, others) => {
    const headers = (isCrossOrigin ? lists.crossOrigin : lists.sameOrigin)(prefix, others).slice();
    headers[1] = traceId;
    return headers;
  };
}

function createLists(isCrossOrigin: boolean): (prefix: string, others: readonly string[]) => readonly string[] {
  const byOthers = new Map<readonly string[], Map<string, readonly string[]>>();

  function listOf(prefix: string, others: readonly string[]): readonly string[] {
    const exposed = `${prefix}-TRACE-ID, ${prefix}-PROXY-DESTINATION-STATUS, ${EXPOSED}`;
    const crossOrigin = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposed];
    return [`${prefix}-TRACE-ID`, '', ...NOT_SNIFFED, ...(isCrossOrigin ? crossOrigin : []), ...others];
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
