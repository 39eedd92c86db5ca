import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import { queryClient } from '../../api/query-client.js';

/** What the user signs in with. */
export function useFactors() {
  return useQuery({ queryKey: ['factors'], queryFn: ({ signal }) => call('GET /portal/api/factors', { signal }) });
}

/** After a change: what is shown is what the server has. */
export async function reloadAccount(): Promise<void> {
  await Promise.all(['factors', 'me', 'sessions'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })));
}
