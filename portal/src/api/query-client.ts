import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { announce } from '../ui/notices.js';
import { ApiFault } from './fault.js';

/** Told when a call was refused for want of a session: it may have ended. */
export const SESSION_DOUBTED = 'strongroom:session-doubted';

/** Where the server does not say when to come again. */
export const LIMIT_SECONDS = 60;

/** Who was removed from a Tenant is told that there is none. */
const RIGHTS_DOUBTED = ['permission_denied', 'not_found'];

/** What holds for every call: a limit is told once, and nothing is tried again that was refused. */
function onError(error: unknown): void {
  if (error instanceof ApiFault && error.status === 401) dispatchEvent(new Event(SESSION_DOUBTED));
  // Rights may have changed since this page was opened: what it shows goes by them.
  if (error instanceof ApiFault && RIGHTS_DOUBTED.includes(error.code)) {
    void queryClient.invalidateQueries({ queryKey: ['me'] });
  }
  if (error instanceof ApiFault && error.isLimit) {
    announce({
      id: 'rate-limited',
      tone: 'warn',
      text: 'Too many requests.',
      untilSeconds: error.retryAfterSeconds ?? LIMIT_SECONDS,
    });
  }
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // What was sent and answered may be a secret: it is not remembered once nobody shows it.
    mutations: { gcTime: 0 },
    queries: {
      staleTime: 15_000,
      retry: (count, error) => error instanceof ApiFault && (error.status === 0 || error.status === 503) && count < 2,
    },
  },
});
