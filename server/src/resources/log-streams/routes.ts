import Type from 'typebox';
import { createInputReader } from '../../http/routes/read-input.js';
import type { StreamRoute } from '../../http/routes/stream-route.js';
import { defineStream } from '../../http/routes/stream-route.js';
import { LogBody } from '../logs/index.js';
import { OWN_TENANT_FAILURES, ownTenantCall } from '../portal/index.js';
import { LogExportQuery, LogTailQuery, TailEnd } from './schema.js';
import type { LogStreams } from './service.js';

const HOUR_MS = 3_600_000;

/** Longer than a tail lasts by itself, and long enough for a large log. */
const DURATION_MS_MAX = HOUR_MS;

const base = {
  methods: ['GET'],
  permission: 'public',
  admits: 'anyone',
  portal: 'signed in',
  limits: [],
  bodyBytesMax: 0,
  durationMsMax: DURATION_MS_MAX,
} as const;

export function logStreamRoutes(streams: LogStreams): StreamRoute[] {
  return [tailRoute(streams), exportRoute(streams)];
}

function tailRoute(streams: LogStreams): StreamRoute {
  const read = createInputReader({ query: LogTailQuery });
  return defineStream({
    ...base,
    path: '/portal/api/tenants/:tenant_id/logs/tail',
    describes: {
      tag: 'Portal',
      summary: 'Follow the log',
      description:
        'Server-sent events. `open` first, without an entry. Each new entry has no event name, the fields of include=details as data, and an id to go on behind. `gap`: entries may be missing since the id that was given. `end` with its reason, then the stream is over.',
      query: LogTailQuery,
      answers: { 'text/event-stream': Type.Union([LogBody, TailEnd]) },
      failures: [...OWN_TENANT_FAILURES, 'invalid_portal_session', 'invalid_cursor', 'validation_failed'],
    },
    handle: (request) => {
      // It passed the schema.
      const query = read.query(request.rawQuery).query as LogTailQuery;
      return streams.tail(ownTenantCall(request), query, request);
    },
  });
}

function exportRoute(streams: LogStreams): StreamRoute {
  const read = createInputReader({ query: LogExportQuery });
  return defineStream({
    ...base,
    path: '/portal/api/tenants/:tenant_id/logs/export',
    describes: {
      tag: 'Portal',
      summary: 'Download the log',
      description: 'Newest first, as a file. The log has an entry for it, by the user.',
      query: LogExportQuery,
      answers: { 'application/x-ndjson': LogBody, 'text/csv': Type.String() },
      failures: [...OWN_TENANT_FAILURES, 'invalid_portal_session', 'validation_failed'],
    },
    handle: (request) => {
      // It passed the schema.
      const query = read.query(request.rawQuery).query as LogExportQuery;
      return streams.exported(ownTenantCall(request), query, request);
    },
  });
}
