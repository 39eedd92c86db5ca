/** Work that a room or a slice has done in the background, and how often it looks for it. */
export interface JobRecord {
  readonly name: string;
  /** How long to rest after a look that found nothing. */
  readonly restMs: number;
  /** Does a bounded piece of work on what is over at this moment; returns how much it did, 0 when there is nothing. */
  readonly step: (nowMs: number) => Promise<number>;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
