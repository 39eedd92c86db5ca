import type { CallEnd } from './call-end.js';
import type { OpenConnection } from './connect.js';
import { readDestination } from './destination.js';
import type { WireRequest } from './exchange.js';
import { connectionHeaders, outgoingHeaders } from './message-headers.js';
import type { OutboundRequest } from './outbound.js';
import { refusedBecause } from './outbound-error.js';
import type { OutboundPolicy } from './policy.js';

interface OutboundPrepareOptions {
  readonly policyOf: (tenantId: string) => OutboundPolicy;
  readonly connect: OpenConnection;
}

const METHODS: ReadonlySet<unknown> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const PATH = /^\/[\x21-\x7e]*$/;
/** Said to destinations that speak an older HTTP too. */
const KEPT_OPEN = ['Connection', 'keep-alive'];

/** Judges all of a request that can be judged without a name server, and writes what is sent. Throws the refusal. */
export function createOutboundPrepare({ policyOf, connect }: OutboundPrepareOptions) {
  return (request: OutboundRequest, end: CallEnd, connectMs: number): WireRequest => {
    const { tenantId, method, body } = request;
    if (!METHODS.has(method)) throw refusedBecause('method');
    const destination = readDestination(request.url);
    if (typeof destination === 'string') throw refusedBecause(destination);
    const bodyBytes = Buffer.isBuffer(body) ? body.length : request.bodyBytes;
    const headers = outgoingHeaders(request.headers, destination, { method, hasBody: body !== undefined, bodyBytes });
    if (typeof headers === 'string') throw refusedBecause(headers);
    const ofConnection = connectionHeaders(request.connectionHeaders ?? []);
    if (typeof ofConnection === 'string') throw refusedBecause(ofConnection);
    const asked = (request.connectionHeaders ?? []).filter(([name]) => name.toLowerCase() === 'connection');
    const policy = policyOf(tenantId);
    const refusal = policy.refusal(destination);
    if (refusal !== undefined) throw refusedBecause(refusal);
    const { isPlain, host, port, path } = destination;
    // A URL has no other characters. It goes into a line of its own, so it is not left to that alone.
    if (!PATH.test(path)) throw refusedBecause('url');
    return {
      method,
      path,
      headers: [...headers, ...ofConnection, ...(asked.length === 0 ? KEPT_OPEN : [])],
      isLast: asked.some(([, value]) => value.toLowerCase() === 'close'),
      body,
      bodyBytes,
      // With the tenant in it: what a destination remembers of a connection stays with the tenant that opened it.
      poolName: `${tenantId} ${isPlain ? 'http' : 'https'} ${host} ${port}`,
      open: () => connect(destination, policy, end, connectMs),
    };
  };
}
