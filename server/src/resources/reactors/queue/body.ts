import { formatDate } from '../../../kernel/dates.js';
import type { RequestFacts } from './queries.js';
import type { ReactorRequestBody } from './schema.js';

/** Nothing of what was asked, and nothing of what came of it. */
export function requestBodyOf(row: RequestFacts): ReactorRequestBody {
  const isWaiting = (row.state === 'queued' || row.state === 'delivering') && row.lease === null;
  return {
    id: row.id,
    reactor_id: row.reactor_id,
    state: row.state === 'queued' && row.lease !== null ? 'running' : row.state,
    attempt: row.attempt,
    has_callback: row.has_callback,
    ...(row.failure_code !== null && {
      error: { code: row.failure_code, ...(row.failure_status !== null && { status: row.failure_status }) },
    }),
    created_at: formatDate(row.created_at.getTime()),
    ...(isWaiting && { next_try_at: formatDate(row.due_at.getTime()) }),
  };
}
