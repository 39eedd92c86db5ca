import type { Static } from 'typebox';
import Type from 'typebox';
import { DateTime, dateInput, ERROR_MESSAGE, listSchema, named, text, Uuid } from '../../http/routes/schema.js';

export const LogBody = named('Log', {
  tenant_id: Uuid,
  actor_id: Type.Optional(Uuid),
  actor_type: Type.Optional(Type.String({ examples: ['application'] })),
  entity_type: Type.String(),
  entity_id: Type.String(),
  operation: Type.String(),
  message: Type.String(),
  created_at: DateTime,
  id: Type.Optional(Type.String({ format: 'uuid', description: 'Only with include=details' })),
  outcome: Type.Optional(Type.Enum(['success', 'failure', 'denied'], { description: 'Only with include=details' })),
  source_address: Type.Optional(Type.String({ description: 'Only with include=details' })),
  trace_id: Type.Optional(Type.String({ description: 'Only with include=details' })),
  entity_version: Type.Optional(
    Type.Integer({ description: 'Only with include=details: the version of the Reactor or Proxy that ran' }),
  ),
  changes: Type.Optional(
    Type.Array(
      Type.Object({
        field: Type.String(),
        from: Type.Union([Type.String(), Type.Number(), Type.Null()]),
        to: Type.Union([Type.String(), Type.Number(), Type.Null()]),
      }),
      {
        description:
          'Only with include=details: what the entry says in numbers or words, such as the matches of a search',
      },
    ),
  ),
});

export const LogPagination = named('LogPagination', {
  total_items: Type.Optional(Type.Integer({ description: 'Only when a page number was asked for' })),
  page_number: Type.Optional(Type.Integer()),
  page_size: Type.Integer(),
  total_pages: Type.Optional(Type.Integer()),
  after: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last one' })),
  next: Type.Optional(Type.String({ description: 'The same cursor' })),
});

export const LogList = listSchema('LogList', LogPagination, LogBody);

/** What narrows a list, a tail or an export of the log. */
export const LogFilterParameters = {
  entity_type: Type.Optional(text({ maxLength: 50, description: 'Only logs of this entity type' })),
  entity_id: Type.Optional(text({ maxLength: 400, description: 'Only logs of this entity' })),
  actor_id: Type.Optional(text({ maxLength: 200, description: 'Only what this application, user or session did' })),
  operation: Type.Optional(text({ maxLength: 50, description: 'Only logs of this operation' })),
  outcome: Type.Optional(
    text({ maxLength: 50, description: 'Only logs with this outcome: success, failure or denied' }),
  ),
  start_date: Type.Optional(dateInput({ description: 'created_at at or after this ISO 8601 date' })),
  end_date: Type.Optional(dateInput({ description: 'created_at before this ISO 8601 date' })),
};

export const LogsQuery = Type.Object({
  ...LogFilterParameters,
  start: Type.Optional(text({ description: 'Cursor: the `after` of an earlier page' })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 20, description: 'Items on a page' })),
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Page number; adds exact totals' }),
  ),
  include: Type.Optional(
    Type.Enum(['details'], {
      description: '`details` adds id, outcome, source_address, trace_id, entity_version and changes',
      [ERROR_MESSAGE]: 'must be details',
    }),
  ),
});

export const EntityTypeBody = named('EntityType', { display_name: Type.String(), value: Type.String() });

export type LogBody = Static<typeof LogBody>;
export type LogList = Static<typeof LogList>;
export type LogsQuery = Static<typeof LogsQuery>;
export type LogFilterQuery = Pick<LogsQuery, keyof typeof LogFilterParameters>;
