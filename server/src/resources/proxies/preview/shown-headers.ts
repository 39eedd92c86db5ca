import type { HeaderPairs } from '../../../outbound/message-headers.js';
import { connectionHeaders, outgoingHeaders } from '../../../outbound/message-headers.js';
import { refusedBecause } from '../../../outbound/outbound-error.js';
import { destinationFailure } from '../run/failure.js';

/** Written anew when something is sent: they are about a connection and about bytes, of which a preview has none. */
const WRITTEN_WHEN_SENT = new Set(['host', 'content-length', 'transfer-encoding']);

/** The headers that would be sent, by the very rules of sending; 400 for what cannot be. Those that come twice are joined. */
export function shownHeaders(headers: HeaderPairs, ofConnection: HeaderPairs, method: string): Record<string, string> {
  const target = { method, hasBody: false, bodyBytes: undefined };
  const sent = outgoingHeaders(asBytes(headers), { authority: '' }, target);
  const chosen = connectionHeaders(ofConnection);
  if (typeof sent === 'string') throw destinationFailure(refusedBecause(sent));
  if (typeof chosen === 'string') throw destinationFailure(refusedBecause(chosen));
  const shown = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of [...pairsOf(sent), ...pairsOf(chosen)]) {
    const lower = name.toLowerCase();
    if (WRITTEN_WHEN_SENT.has(lower)) continue;
    const before = shown.get(lower);
    if (before) before.values.push(value);
    else shown.set(lower, { name, values: [value] });
  }
  return Object.fromEntries(
    [...shown].map(([lower, { name, values }]) => [name, values.join(lower === 'cookie' ? '; ' : ', ')]),
  );
}

/** One character for each byte, as headers are sent. */
function asBytes(headers: HeaderPairs): HeaderPairs {
  return headers.map(([name, value]) => [name, Buffer.from(value).toString('latin1')]);
}

function pairsOf(list: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    pairs.push([list[at] ?? '', Buffer.from(list[at + 1] ?? '', 'latin1').toString('utf8')]);
  }
  return pairs;
}
