import { promises as dns } from 'node:dns';
import type { EndSignal } from '../kernel/end-signal.js';

/** How a name is resolved. */
export interface NameQuestion {
  /** The operator named this host, so it is resolved as the machine resolves names. */
  readonly isNamed: boolean;
  readonly signal: EndSignal;
}

/** All addresses of a name; none if it has none. It may throw anything, and must when the signal aborts. */
export type ResolveName = (name: string, question: NameQuestion) => Promise<readonly string[]>;

export interface NameResolverOptions {
  /** Servers to ask instead of the machine's own, as `address:port`. */
  readonly servers?: readonly string[];
  readonly tryMs: number;
  readonly tries: number;
}

export const NAME_RESOLVER_OPTIONS: NameResolverOptions = { tryMs: 2_000, tries: 2 };

/**
 * Names that tenants choose are asked of DNS by themselves alone: without the hosts file and without the search list of this
 * machine, which would make `db` the name of a neighbour, and without `getaddrinfo`, which takes one of the four
 * threads that files and zlib use too, for as long as a hostile name server likes.
 */
export function createNameResolver({ servers, tryMs, tries }: NameResolverOptions): ResolveName {
  return async (name, { isNamed, signal }) => {
    if (isNamed) return (await dns.lookup(name, { all: true })).map(({ address }) => address);
    // One for each name: it can then be cancelled alone, and reads the servers as they are now.
    const resolver = new dns.Resolver({ timeout: tryMs, tries });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel);
    try {
      signal.throwIfAborted();
      // Cancelling is for a name server that does not answer; a name with addresses of one family alone is common.
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal.throwIfAborted();
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
