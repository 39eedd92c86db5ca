import { isUuid } from '../../../kernel/ids.js';
import type { Snapshot } from './snapshot.js';
import { readSnapshot } from './snapshot.js';

/**
 * How far a reader has come: everything that `since` sees was sent; and where a step to `until` has begun, what is new in it up
 * to an entry, in the order of time. An entry belongs to the first snapshot that sees it, whenever its request began, so going
 * on from a place neither loses nor repeats one.
 */
export interface Place {
  readonly since: Snapshot;
  readonly step?: { readonly until: Snapshot; readonly atMs: number; readonly id: string } | undefined;
}

const LENGTH_MAX = 12_000;
const NUMBER = /^\d{1,15}$/;

/** The id of an event. Whoever makes one up moves about in a log that it may read anyway. */
export function placeText({ since, step }: Place): string {
  const parts = [since.text, String(since.takenAtMs)];
  if (step) parts.push(step.until.text, String(step.until.takenAtMs), String(step.atMs), step.id);
  return Buffer.from(parts.join(' ')).toString('base64url');
}

export function readPlace(text: string): Place | undefined {
  if (text.length > LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const parts = Buffer.from(text, 'base64url').toString('latin1').split(' ');
  const [sinceText = '', takenAt = '', untilText = '', untilAt = '', at = '', id = ''] = parts;
  const since = snapshotOf(sinceText, takenAt);
  if (!since || (parts.length !== 2 && parts.length !== 6)) return undefined;
  if (parts.length === 2) return { since };
  const until = snapshotOf(untilText, untilAt);
  if (!until || !NUMBER.test(at) || !isUuid(id)) return undefined;
  return { since, step: { until, atMs: Number(at), id } };
}

/** A moment that no date can hold is none. */
const AT_MS_MAX = 4_102_444_800_000;

function snapshotOf(text: string, takenAt: string): Snapshot | undefined {
  if (!NUMBER.test(takenAt) || Number(takenAt) > AT_MS_MAX) return undefined;
  return readSnapshot(text, Number(takenAt));
}
