import { record } from '../../audit/record.js';
import type { StreamAnswer, StreamRequest } from '../../http/routes/stream-route.js';
import { AppError } from '../../kernel/errors.js';
import type { People } from '../../people/people.js';
import { LOG_EVENTS, logFilterOf } from '../logs/index.js';
import type { OwnTenantCall, OwnTenantOptions } from '../portal/index.js';
import { createAskStill, createEnterTenant } from '../portal/index.js';
import { createOpenings } from './bounds/openings.js';
import { fileHeaders, fileOf } from './export/export.js';
import type { LogExportQuery, LogTailQuery } from './schema.js';
import { createLogHubs } from './tail/hub.js';
import { openTail } from './tail/open-tail.js';
import type { Place } from './tail/place.js';
import { readPlace } from './tail/place.js';

export interface LogStreamsOptions extends OwnTenantOptions {
  readonly people: Pick<People, 'membership' | 'sessions'>;
}

export interface LogStreams {
  tail(call: OwnTenantCall, query: LogTailQuery, request: StreamRequest<undefined>): Promise<StreamAnswer>;
  exported(call: OwnTenantCall, query: LogExportQuery, request: StreamRequest<undefined>): Promise<StreamAnswer>;
}

const ASKING = { permission: 'log:read', onDenied: LOG_EVENTS.denied } as const;
/** A browser has six connections to a server for all of its tabs, and needs some for everything else. */
const TAILS = { ofUserMax: 4, ofTenantMax: 100, max: 200, what: 'live views of the log' };
const EXPORTS = { ofUserMax: 2, ofTenantMax: 4, max: 8, what: 'downloads of the log' };
const RESUME_HEADER = 'last-event-id';
const EVENT_HEADERS = ['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no'];

export function createLogStreams(options: LogStreamsOptions): LogStreams {
  const { database, clock } = options;
  const enter = createEnterTenant(options);
  const askStill = createAskStill(options);
  const hubs = createLogHubs(options);
  const tails = createOpenings(TAILS);
  const exports = createOpenings(EXPORTS);
  return {
    async tail(call, query, request) {
      const { tenantId } = await enter(call, ASKING);
      const place = placeIn(query, request);
      if (request.method === 'HEAD') return { status: 200, headers: EVENT_HEADERS };
      request.assignTo?.(tenantId);
      const release = tails.take({ userId: call.signedIn.userId, tenantId });
      const body = openTail({
        ...{ hubs, clock, tenantId, place, release, filter: logFilterOf(query) },
        ...{ signal: request.signal, stopping: request.stopping, askStill: () => askStill(call, ASKING.permission) },
      });
      return { status: 200, headers: EVENT_HEADERS, body };
    },
    async exported(call, { format, ...query }, request) {
      const membership = await enter(call, ASKING);
      const { tenantId } = membership;
      const headers = fileHeaders(format, membership, call.auditContext.atMs);
      // Nothing is read for it, so it is no entry of the log.
      if (request.method === 'HEAD') return { status: 200, headers };
      request.assignTo?.(tenantId);
      const release = exports.take({ userId: call.signedIn.userId, tenantId });
      request.signal.addEventListener('abort', release);
      try {
        const entry = { event: LOG_EVENTS.logs_exported, entityId: tenantId, outcome: 'success' } as const;
        await database.append(tenantId, (tx) => record(tx, call.auditContext, entry));
      } catch (error) {
        release();
        throw error;
      }
      const file = fileOf({
        ...{ database, clock, tenantId, format, filter: logFilterOf(query), signal: request.signal },
        askStill: () => askStill(call, ASKING.permission),
      });
      return { status: 200, headers, body: released(file, release) };
    },
  };
}

/** Gives the place back however the reading ends, also where it never began. */
function released(pieces: AsyncGenerator<Buffer, void, void>, release: () => void): AsyncIterable<Buffer> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => pieces.next(),
      return() {
        release();
        return pieces.return();
      },
    }),
  };
}

function placeIn({ after }: LogTailQuery, { rawHeaders }: Pick<StreamRequest, 'rawHeaders'>): Place | undefined {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === RESUME_HEADER);
  const given = (at === -1 ? '' : (rawHeaders[at + 1] ?? '')) || after;
  if (given === undefined) return undefined;
  const place = readPlace(given);
  if (place) return place;
  throw new AppError('invalid_cursor', 'This is not the id of an event of a log. Connect again without it.', {
    errors: { after: ['is not the id of an event'] },
  });
}
