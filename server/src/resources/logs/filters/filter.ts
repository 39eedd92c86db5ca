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

/** Of the month a moment is in, or of one so much later. */
export function startOfMonth(ms: number, later = 0): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
}
