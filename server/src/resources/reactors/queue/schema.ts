import type { Static } from 'typebox';
import Type from 'typebox';
import { OffsetQuery, offsetListOf } from '../../../http/paging/pages.js';
import { DateTime, named, Uuid } from '../../../http/routes/schema.js';
import { ReactDocument } from '../schema.js';

/** For the API document; `run/input.ts` reads the bodies. */
export const ReactAsyncDocument = Type.Object(
  { args: ReactDocument.properties.args, timeout_ms: ReactDocument.properties.timeout_ms },
  { title: 'ReactAsyncInput' },
);

export const ReactAsyncBody = named('ReactAsyncAnswer', {
  asyncReactorRequestId: Type.String({ format: 'uuid', description: 'Under this id the result is fetched' }),
});

export const ReactorRequestBody = named('ReactorRequest', {
  id: Uuid,
  reactor_id: Uuid,
  state: Type.Enum(['queued', 'running', 'delivering', 'done', 'failed', 'cancelled']),
  attempt: Type.Integer({ description: 'How often its run was begun' }),
  has_callback: Type.Boolean(),
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), status: Type.Optional(Type.Integer()) },
      { description: 'What kept it from running or from being delivered the last time' },
    ),
  ),
  created_at: DateTime,
  next_try_at: Type.Optional(DateTime),
});

export const ReactorRequestsQuery = Type.Object(OffsetQuery);
export const ReactorRequestList = offsetListOf('ReactorRequestList', ReactorRequestBody);

export type ReactorRequestBody = Static<typeof ReactorRequestBody>;
export type ReactorRequestsQuery = Static<typeof ReactorRequestsQuery>;
export type ReactorRequestList = Static<typeof ReactorRequestList>;
