import type { LookupFunction, Socket } from 'node:net';
import { connect as connectTcp } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import type { EndSignal } from '../kernel/end-signal.js';
import type { CallEnd } from './call-end.js';
import { orAborted } from './call-end.js';
import type { Destination } from './destination.js';
import { OutboundError, outboundFailureOf, refusedBecause } from './outbound-error.js';
import type { OutboundPolicy, VettedAddress } from './policy.js';
import type { ResolveName } from './resolve.js';

export interface DialTarget {
  /** In the order they are tried. Never empty, never a name. */
  readonly addresses: readonly VettedAddress[];
  readonly port: number;
}

/** Begins a TCP connection to one of the addresses. It must not resolve anything. */
export type Dial = (target: DialTarget) => Socket;

export interface ConnectOptions {
  readonly resolve: ResolveName;
  readonly dial: Dial;
  readonly secureContext: SecureContext;
}

/** A connection that is ready for a request: the addresses were judged, the certificate checked. */
export type OpenConnection = (
  destination: Destination,
  policy: OutboundPolicy,
  end: CallEnd,
  withinMs: number,
) => Promise<Socket>;

/** A name can have hundreds of addresses. All are judged; these are tried. */
const TRIED_MAX = 8;

/** A placeholder: the lookup below knows the addresses already. */
const JUDGED_HOST = 'judged.invalid';

/** Several addresses are tried one after the other, each for a quarter of a second before the next one begins. */
export const dialTcp: Dial = ({ addresses, port }) => {
  const lookup: LookupFunction = (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
  return connectTcp({ host: JUDGED_HOST, port, lookup, autoSelectFamily: true, noDelay: true });
};

export function createOutboundTls(authorities: readonly string[]): SecureContext {
  const ca = trustedAuthorities(authorities);
  return createSecureContext({ ...(ca !== undefined && { ca }), minVersion: 'TLSv1.2' });
}

/** The platform forgets its own authorities where others are named, so they are named too; undefined for its own alone. */
export function trustedAuthorities(own: readonly string[]): string[] | undefined {
  return own.length === 0 ? undefined : [...rootCertificates, ...own];
}

export function createConnect({ resolve, dial, secureContext }: ConnectOptions): OpenConnection {
  /** Every reason for which a name gives no addresses looks alike, a name server that is silent too. */
  async function addressesOf(destination: Destination, policy: OutboundPolicy, signal: EndSignal) {
    if (destination.address !== undefined) return [destination.host];
    try {
      const question = { isNamed: policy.isNamed(destination), signal };
      return await orAborted(resolve(destination.host, question), signal);
    } catch {
      throw signal.aborted ? signal.reason : unresolved();
    }
  }

  return async (destination, policy, end, withinMs) => {
    const { signal } = end;
    end.await(withinMs, unresolved);
    // Judged and dialled as one list: there is no second look-up that could give other addresses.
    const judged = policy.vet(destination, await addressesOf(destination, policy, signal));
    if (typeof judged === 'string') throw refusedBecause(judged);
    end.await(withinMs);
    const socket = dial({ addresses: ipv4First(judged).slice(0, TRIED_MAX), port: destination.port });
    if (destination.isPlain) return ready(socket, 'connect', signal);
    const { host, address } = destination;
    const servername = address === undefined ? host : '';
    const trust = { secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
    return ready(connectTls({ ...trust, socket, host, servername }), 'secureConnect', signal);
  };
}

function unresolved(): OutboundError {
  return refusedBecause('unresolved');
}

/** Many networks have IPv6 addresses and no way to the IPv6 internet; those that have no IPv4 say so at once. */
function ipv4First(addresses: readonly VettedAddress[]): readonly VettedAddress[] {
  return [...addresses].sort((a, b) => a.family - b.family);
}

function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: EndSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      settle(() => reject(signal.reason));
    };
    const onReady = (): void => settle(() => resolve(socket));
    const onError = (error: unknown): void =>
      settle(() => reject(isUntrusted(socket) ? untrusted(error) : outboundFailureOf(error)));
    const onClose = (): void => settle(() => reject(new OutboundError('unreachable')));
    function settle(how: () => void): void {
      socket.off(event, onReady).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      how();
    }
    // This one stays: a socket without it that fails later, while nobody uses it, would end the process.
    socket.on('error', onError);
    socket.once(event, onReady).once('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function isUntrusted(socket: Socket & Partial<Pick<TLSSocket, 'authorizationError'>>): boolean {
  return Boolean(socket.authorizationError);
}

function untrusted(error: unknown): OutboundError {
  return new OutboundError('untrusted', { systemCode: outboundFailureOf(error).systemCode });
}
