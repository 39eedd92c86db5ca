/** Background work of a room or a slice, and how often it looks for something to do. */
export interface JobRecord {
  readonly name: string;
  /** How long to rest after a look that found nothing. */
  readonly restMs: number;
  /**
   * Does a bounded piece of work on what has expired at this moment; returns how much it did, 0 when there is nothing.
   */
  readonly step: (nowMs: number) => Promise<number>;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
