import { Socket } from 'node:net';

/** Whom the sockets of this process were asked to reach while the guard was up. */
export interface LoopbackGuard {
  readonly reached: ReadonlySet<string>;
  readonly refused: readonly string[];
  lift(): void;
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Refuses every connection that would leave this machine, before its name is even looked up. The packages under test
 * were written to talk to a service on the internet; a call that escapes its base address must fail, not succeed there.
 */
export function guardLoopback(): LoopbackGuard {
  const reached = new Set<string>();
  const refused: string[] = [];
  const connect = Socket.prototype.connect;
  const unproxied = process.env.NO_PROXY;
  // A proxy that the environment names would stand between the packages and the server.
  process.env.NO_PROXY = '*';
  Socket.prototype.connect = function guarded(this: Socket, ...args: unknown[]): Socket {
    const host = hostOf(args);
    if (!LOOPBACK.includes(host)) {
      refused.push(host);
      throw new Error(`a connection to ${host} was refused: only this machine may be contacted`);
    }
    reached.add(host);
    return Reflect.apply(connect, this, args);
  };
  return {
    reached,
    refused,
    lift() {
      Socket.prototype.connect = connect;
      if (unproxied === undefined) delete process.env.NO_PROXY;
      else process.env.NO_PROXY = unproxied;
    },
  };
}

/** Reads the arguments of `connect` in each of their forms: (port, host), (path), (options), ([options, callback]). */
function hostOf([first, second]: readonly unknown[]): string {
  if (Array.isArray(first)) return hostOf(first);
  if (typeof first === 'object' && first !== null) {
    if ('path' in first && typeof first.path === 'string') return first.path;
    return 'host' in first && typeof first.host === 'string' ? first.host : 'localhost';
  }
  if (typeof first === 'string' && Number.isNaN(Number(first))) return first;
  return typeof second === 'string' ? second : 'localhost';
}
