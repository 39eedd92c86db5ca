import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.js';

/** What the sign-in offers here. */
export const SIGN_IN_OPTIONS = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => call('GET /portal/api/sign-in-options', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
