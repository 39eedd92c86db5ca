import type { EntityType } from './entity-types.js';

/** Something an entry can say. Only `defineEvents` makes one. */
export interface LogEvent {
  /** For the operator's security log; log entries have operation and message. */
  readonly name: string;
  readonly entityType: EntityType;
  readonly operation: string;
  readonly message: string;
}

/**
 * The events of one kind of entity. The owner of the entity declares them in its `events.ts`, as constants, so that no
 * client text and no secret can reach the log through a message; a test looks at every declaration.
 */
export function defineEvents<Key extends string>(
  entityType: EntityType,
  rows: Readonly<Record<Key, readonly [operation: string, message: string]>>,
): Readonly<Record<Key, LogEvent>> {
  const events = Object.entries<readonly [string, string]>(rows).map(([key, [operation, message]]) => [
    key,
    { name: `${entityType}_${key}`, entityType, operation, message },
  ]);
  return Object.fromEntries(events) as Record<Key, LogEvent>; // One for each key of the rows.
}
