import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { ProxyMetrics, ReactorMetrics } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';

/** What Reactors and Proxies have in common is written once; these are the words that differ. */
export type DefinitionKind = 'reactors' | 'proxies';

export const TITLES = { reactors: 'Reactor', proxies: 'Proxy' } as const;
export const PLURALS = { reactors: 'Reactors', proxies: 'Proxies' } as const;

/** Rows of a list: each asks for its figures. */
export const LISTED_MAX = 10;

export type DefinitionMetrics = ReactorMetrics | ProxyMetrics;

/** The calls of the last 30 days. */
export function useMetrics(kind: DefinitionKind, id: string) {
  const { id: tenantId } = useTenant();
  return useQuery({
    queryKey: ['tenant', tenantId, kind, id, 'metrics'],
    queryFn: ({ signal }): Promise<DefinitionMetrics> => {
      const input = { tenantId, signal, params: { id } };
      return kind === 'reactors' ? call('GET /reactors/{id}/metrics', input) : call('GET /proxies/{id}/metrics', input);
    },
  });
}

export function failuresOf({ errors }: { readonly errors: Readonly<Record<string, number>> }): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}

const MILLISECONDS = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'millisecond',
  unitDisplay: 'short',
  maximumFractionDigits: 0,
});
const SECONDS = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'second',
  unitDisplay: 'short',
  maximumFractionDigits: 1,
});
const SECOND_MS = 1_000;

/** How long something took, in the unit that fits. */
export function durationText(ms: number): string {
  return ms < SECOND_MS ? MILLISECONDS.format(ms) : SECONDS.format(ms / SECOND_MS);
}
