import type { Cursors } from '../../http/paging/cursor.js';
import { formatDate, parseDate } from '../../kernel/dates.js';
import { isUuid } from '../../kernel/ids.js';
import type { Database } from '../../storage/database.js';
import type { LogFilter } from './filters/filter.js';
import type { LogRow } from './queries.js';
import { alongShorterHistory, countLogs, listLogs, listNewestLogs } from './queries.js';
import type { LogBody, LogFilterQuery, LogList, LogsQuery } from './schema.js';

export interface Logs {
  list(tenantId: string, query: LogsQuery, nowMs: number): Promise<LogList>;
}

export interface LogsOptions {
  readonly database: Database;
  readonly cursors: Cursors;
}

const PAGE_SIZE_DEFAULT = 20;

export function createLogs(options: LogsOptions): Logs {
  const { database, cursors } = options;

  return {
    async list(tenantId, query, nowMs) {
      const size = query.size ?? PAGE_SIZE_DEFAULT;
      const asked = logFilterOf(query);
      const scope = {
        list: 'logs',
        tenantId,
        filters: filtersOf(query, asked.startMs, asked.endMs),
      };
      const filter: LogFilter = {
        ...asked,
        after: query.start === undefined ? undefined : cursors.open(scope, query.start),
      };
      const offset = ((query.page ?? 1) - 1) * size;
      const [rows, total] = isNobody(filter)
        ? [[], query.page && 0]
        : await database.readReplicated(tenantId, async (tx) => {
            const along = await alongShorterHistory(tx, filter);
            return Promise.all([
              // One row more than asked for tells whether there is a next page.
              offset === 0 ? listNewestLogs(tx, along, size + 1, nowMs) : listLogs(tx, along, size + 1, offset),
              query.page === undefined ? undefined : countLogs(tx, along),
            ]);
          });
      const page = rows.slice(0, size);
      const last = page.at(-1);
      const next =
        rows.length > size && last ? cursors.seal(scope, { atMs: last.created_at.getTime(), id: last.id }) : undefined;
      return {
        pagination: {
          ...(total !== undefined && {
            total_items: total,
            page_number: query.page ?? 1,
            total_pages: Math.ceil(total / size),
          }),
          page_size: size,
          ...(next !== undefined && { after: next, next }),
        },
        data: page.map((row) => bodyOf(row, query.include === 'details')),
      };
    },
  };
}

/** What a list, a tail or an export is narrowed by. */
export function logFilterOf(query: LogFilterQuery): LogFilter {
  return {
    entityType: query.entity_type,
    entityId: query.entity_id,
    actorId: query.actor_id?.toLowerCase(),
    operation: query.operation,
    outcome: query.outcome,
    startMs: instantOf(query.start_date),
    endMs: instantOf(query.end_date),
    after: undefined,
  };
}

/** An id that nobody can have names nobody. */
export function isNobody({ actorId }: LogFilter): boolean {
  return actorId !== undefined && !isUuid(actorId);
}

/**
 * What a cursor is bound to: the instants, not their spelling, because the same moment written another way is the same filter.
 * Filters that came later are named only where one is there, so that cursors from before stay good.
 */
function filtersOf(query: LogsQuery, startMs: number | undefined, endMs: number | undefined): string[] {
  const { entity_type: type = '', entity_id: id = '', actor_id: actor = '', operation = '', outcome = '' } = query;
  const later = [actor.toLowerCase(), operation, outcome];
  return [type, id, String(startMs ?? ''), String(endMs ?? ''), ...(later.some((one) => one !== '') ? later : [])];
}

/** The schema let only readable dates through. */
function instantOf(given: string | undefined): number | undefined {
  return given === undefined ? undefined : (parseDate(given) ?? undefined);
}

/** With details everything that is stored. */
export function bodyOf(row: LogRow, withDetails: boolean): LogBody {
  return {
    tenant_id: row.tenant_id,
    ...(row.actor_id !== null && { actor_id: row.actor_id }),
    ...(row.actor_type !== null && { actor_type: row.actor_type }),
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    operation: row.operation,
    message: row.message,
    created_at: formatDate(row.created_at.getTime()),
    ...(withDetails && {
      id: row.id,
      outcome: row.outcome,
      ...(row.source_address !== null && { source_address: row.source_address }),
      ...(row.trace_id !== null && { trace_id: row.trace_id }),
      ...(row.entity_version !== null && { entity_version: row.entity_version }),
      ...(row.changes !== null && { changes: row.changes.map(({ field, from, to }) => ({ field, from, to })) }),
    }),
  };
}
