import type { Span } from './log-fill.js';
import { BUSY_ACTOR, BUSY_ENTITY } from './log-fill.js';
import type { Product } from './product.js';
import { call } from './requests.js';
import { runScript } from './scripts.js';
import type { Workshop } from './workshop.js';

export interface LogFilterCase {
  readonly name: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly actorId: string;
  readonly operation: string;
  readonly outcome: string;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
}

/** A place in a list, for the script that seals it into a cursor. */
export interface SealOptions {
  readonly tenantId: string;
  readonly filters: readonly string[];
  readonly atMs: number;
}

const PAGE_SIZE = 10;
const PAGE_DEEP = 400;
/** Rows of a filter that are left where the end is near: a full page and some. */
const ROWS_LEFT = 30;

export function filterCases(span: Span): LogFilterCase[] {
  const margin = Math.round((span.endMs - span.startMs) / 30);
  const type = { entityType: 'application' };
  const id = { entityId: BUSY_ENTITY };
  const from = { startMs: span.startMs + margin };
  const to = { endMs: span.endMs - margin };
  return [
    { name: 'no filter', ...NONE },
    { name: 'entity_type', ...NONE, ...type },
    { name: 'entity_id', ...NONE, ...id },
    { name: 'entity_type + entity_id', ...NONE, ...type, ...id },
    { name: 'actor_id', ...NONE, actorId: BUSY_ACTOR },
    { name: 'operation', ...NONE, operation: 'read' },
    { name: 'outcome', ...NONE, outcome: 'success' },
    { name: 'actor_id + operation + outcome', ...NONE, actorId: BUSY_ACTOR, operation: 'read', outcome: 'success' },
    { name: 'start_date', ...NONE, ...from },
    { name: 'end_date', ...NONE, ...to },
    { name: 'start_date + end_date', ...NONE, ...from, ...to },
    { name: 'entity and dates', ...NONE, ...type, ...id, ...from, ...to },
    { name: 'actor, operation and dates', ...NONE, actorId: BUSY_ACTOR, operation: 'read', ...from, ...to },
  ];
}

/** What is there only at the very beginning of the log, or not at all though each of its parts is half of it. */
export function rareCases(): LogFilterCase[] {
  return [
    { name: 'operation, oldest rows', ...NONE, operation: 'update' },
    { name: 'outcome, oldest rows', ...NONE, outcome: 'denied' },
    { name: 'actor_id + operation, oldest rows', ...NONE, actorId: BUSY_ACTOR, operation: 'update' },
    { name: 'actor_id + operation, none', ...NONE, actorId: BUSY_ACTOR, operation: 'create' },
    { name: 'entity_type + operation, none', ...NONE, entityType: 'application', operation: 'create' },
    { name: 'entity_id + outcome, none', ...NONE, entityId: BUSY_ENTITY, outcome: 'failure' },
  ];
}

const NONE = {
  ...{ entityType: '', entityId: '', actorId: '', operation: '', outcome: '' },
  ...{ startMs: undefined, endMs: undefined },
};

export function firstPageOf(filter: LogFilterCase): string {
  return `/logs?size=${PAGE_SIZE}${queryOf(filter)}`;
}

/** The paths of the first page, of page 400 by cursors, and of a page near the end. */
export async function pagesOf(
  workshop: Workshop,
  product: Product,
  tenant: { readonly id: string; readonly key: string; readonly rows: number },
  filter: LogFilterCase,
  span: Span,
): Promise<Map<string, string>> {
  const query = queryOf(filter);
  const page = (start: string): string => `/logs?size=${PAGE_SIZE}${query}${start}`;
  const step = (start: string, size: number) => cursorAfter(product, tenant.key, `/logs?size=${size}${query}${start}`);
  let deep = '';
  for (let left = (PAGE_DEEP - 1) * PAGE_SIZE; left > 0; left -= 1_000) deep = await step(deep, Math.min(left, 1_000));
  const everyMs = (span.endMs - span.startMs) / tenant.rows;
  const atMs = Math.round((filter.startMs ?? span.startMs) + everyMs * ROWS_LEFT * (isHalf(filter) ? 2 : 1));
  const later = [filter.actorId, filter.operation, filter.outcome];
  const filters = [
    ...[filter.entityType, filter.entityId, String(filter.startMs ?? ''), String(filter.endMs ?? '')],
    // As the product does it, so that cursors from before these filters stay good.
    ...(later.some((given) => given !== '') ? later : []),
  ];
  const options: SealOptions = { tenantId: tenant.id, filters, atMs };
  const sealed: { cursor: string } = JSON.parse(await runScript(workshop, 'seal-cursor', options, product.env));
  return new Map([
    ['page 1', page('')],
    [`page ${PAGE_DEEP}`, page(deep)],
    ['near the end', page(`&start=${sealed.cursor}`)],
  ]);
}

function queryOf({ entityType, entityId, actorId, operation, outcome, startMs, endMs }: LogFilterCase): string {
  const date = (ms: number): string => encodeURIComponent(new Date(ms).toISOString());
  return [
    entityType && `&entity_type=${entityType}`,
    entityId && `&entity_id=${entityId}`,
    actorId && `&actor_id=${actorId}`,
    operation && `&operation=${operation}`,
    outcome && `&outcome=${outcome}`,
    startMs === undefined ? '' : `&start_date=${date(startMs)}`,
    endMs === undefined ? '' : `&end_date=${date(endMs)}`,
  ].join('');
}

function isHalf({ entityType, entityId, actorId, operation, outcome }: LogFilterCase): boolean {
  return [entityType, entityId, actorId, operation, outcome].some((given) => given !== '');
}

async function cursorAfter({ port }: Product, key: string, path: string): Promise<string> {
  const answer: { pagination: { after?: string } } = JSON.parse(await call(port, key, 'GET', path));
  if (answer.pagination.after === undefined) throw new Error(`the list ends at ${path}`);
  return `&start=${answer.pagination.after}`;
}
