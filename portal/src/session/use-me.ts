import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../api/call.js';

/** Who is signed in. */
export const ME = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call('GET /portal/api/me', { signal }),
  // Somebody else may have signed in in another tab.
  refetchOnWindowFocus: 'always',
});

export function useMe() {
  return useQuery(ME);
}
