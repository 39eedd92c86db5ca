import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call.js';
import { useTenant } from './use-tenant.js';

/** What the log can be about, with the names people read. */
export function useEntityTypes() {
  const { id: tenantId } = useTenant();
  const { data: types = [] } = useQuery({
    queryKey: ['tenant', tenantId, 'entity-types'],
    queryFn: ({ signal }) => call('GET /logs/entity-types', { tenantId, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const names = new Map(types.map(({ value, display_name: name }) => [value, name]));
  return { types, nameOf: (type: string): string => names.get(type) ?? wordsOf(type) };
}

/** `key_create`: Key create */
export function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
