/** What an entry has to be to stand in a list. All of it must hold. */
export interface LogFilter {
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
  readonly actorId: string | undefined;
  readonly operation: string | undefined;
  readonly outcome: string | undefined;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** Only what comes after this row in the list. */
  readonly after: { readonly atMs: number; readonly id: string } | undefined;
  /** With an entity and an actor: whose history is read. The other one is looked for in it. */
  readonly along?: 'entity' | 'actor';
}

/** Whether nothing but time narrows the list. */
export function isByTimeAlone(filter: LogFilter): boolean {
  const { entityType, entityId, actorId, operation, outcome } = filter;
  return [entityType, entityId, actorId, operation, outcome].every((given) => given === undefined);
}

interface Filtered {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly actor_id: string | null;
  readonly operation: string;
  readonly outcome: string;
  readonly created_at: Date;
}

/** Whether an entry that was read without the filter stands in the list. */
export function passesFilter(filter: LogFilter, row: Filtered): boolean {
  const { entityType, entityId, actorId, operation, outcome, startMs = -Infinity, endMs = Infinity } = filter;
  const isSo = (wanted: string | undefined, given: string | null) => wanted === undefined || wanted === given;
  const atMs = row.created_at.getTime();
  return (
    isSo(entityType, row.entity_type) &&
    isSo(entityId, row.entity_id) &&
    isSo(actorId, row.actor_id) &&
    isSo(operation, row.operation) &&
    isSo(outcome, row.outcome) &&
    atMs >= startMs &&
    atMs < endMs
  );
}

/** Of the month a moment is in, or of one so much later. */
export function startOfMonth(ms: number, later = 0): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
}
