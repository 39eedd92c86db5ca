import type { IncomingHttpHeaders } from 'node:http';

const SUFFIXES = ['api-key', 'trace-id', 'tenant-id', 'idempotency-key', 'proxy-url', 'proxy-key'] as const;
export type HeaderSuffix = (typeof SUFFIXES)[number];

/** Our header names under every accepted prefix. `SVC` comes first and so wins, then the operator's order. */
export interface HeaderNames {
  read(headers: IncomingHttpHeaders, suffix: HeaderSuffix): string | undefined;
  /** The prefix the client used, in upper case; the first one if it used none. */
  prefixOf(headers: IncomingHttpHeaders): string;
  /** Every spelling of a header, in lower case. */
  spellings(suffix: HeaderSuffix): readonly string[];
}

export function createHeaderNames(prefixes: readonly string[]): HeaderNames {
  const first = prefixes[0] ?? 'SVC';
  const spellings = Object.fromEntries(
    SUFFIXES.map((suffix) => [suffix, prefixes.map((prefix) => `${prefix.toLowerCase()}-${suffix}`)]),
  ) as Record<HeaderSuffix, string[]>; // Built from the very list the type is made of.

  function isUsed(headers: IncomingHttpHeaders, index: number): boolean {
    return SUFFIXES.some((suffix) => headers[spellings[suffix][index] ?? ''] !== undefined);
  }

  return {
    read(headers, suffix) {
      for (const name of spellings[suffix]) {
        const value = headers[name];
        if (typeof value === 'string') return value;
      }
      return undefined;
    },
    prefixOf(headers) {
      if (prefixes.length === 1) return first;
      return prefixes.find((_, index) => isUsed(headers, index)) ?? first;
    },
    spellings: (suffix) => spellings[suffix],
  };
}
