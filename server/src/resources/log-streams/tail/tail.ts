import type { Clock } from '../../../kernel/clock.js';
import type { LogFilter, TailedRow } from '../../logs/index.js';
import { logBodyOf, passesFilter } from '../../logs/index.js';
import type { Withdrawn } from '../../portal/index.js';
import type { LogHubs, LogStep } from './hub.js';
import type { Place } from './place.js';
import { placeText } from './place.js';
import type { EndReason, StepQueue } from './queue.js';
import type { Snapshot } from './snapshot.js';
import { laterOf, sees } from './snapshot.js';

/** Longer ago, a reader is told that there is a gap: to look for what is new takes the longer the older the snapshot is. */
const RESUME_MS_MAX = 15 * 60_000;
/** How often a reader hears something, so that nobody on the way takes the connection for dead. */
const BEAT_MS = 15_000;

export interface TailOptions {
  readonly hubs: LogHubs;
  readonly clock: Clock;
  readonly tenantId: string;
  readonly filter: LogFilter;
  /** Where an earlier connection ended. */
  readonly place: Place | undefined;
  readonly queue: StepQueue;
  /** Why nothing more may be sent; undefined while the reader may read. */
  readonly askStill: () => Promise<Withdrawn | undefined>;
}

/** The events of one connection. It ends with the queue, and says why. */
export async function* tailEvents(options: TailOptions): AsyncGenerator<Buffer, void, void> {
  const { hubs, clock, tenantId, queue, place } = options;
  const at = await hubs.join(tenantId, queue);
  const isKnown = place === undefined || (await isWithinReach(options, place));
  let reached: Place = { since: at };
  if (place && isKnown) {
    yield eventOf('open', place);
    reached = yield* caughtUp(options, place, at);
  } else yield eventOf(isKnown ? 'open' : 'gap', reached);
  let saidMs = clock.monotonicMs();
  /** Of a look that brings much, each part is not asked about anew. */
  let askedFor: Snapshot | undefined;
  for (;;) {
    const step = await queue.next();
    if (typeof step === 'string') {
      yield endOf(step, reached);
      return;
    }
    const text = textOf(options, step, reached.since);
    const isAsked = text === '' || askedFor === step.until;
    const withdrawn = isAsked ? undefined : await withdrawal(options);
    if (!isAsked) askedFor = step.until;
    if (withdrawn) {
      yield endOf(withdrawn, reached);
      return;
    }
    reached = placeBehind(step, reached);
    const isBeat = clock.monotonicMs() - saidMs >= BEAT_MS;
    if (text === '' && !isBeat) continue;
    saidMs = clock.monotonicMs();
    yield Buffer.from(text === '' ? `: \nid: ${placeText(reached)}\n\n` : text);
  }
}

/** Asked before anything is sent, at most once a look: access ends at once. Who cannot be asked about is told nothing. */
function withdrawal({ askStill }: TailOptions): Promise<EndReason | undefined> {
  return askStill().catch((): EndReason => 'restart');
}

/** What became visible after the place and before the reader joined. Gives the place up to which everything is sent. */
async function* caughtUp(options: TailOptions, place: Place, at: Snapshot): AsyncGenerator<Buffer, Place, void> {
  const { hubs, tenantId, queue } = options;
  const { since } = place;
  let reached = place;
  const ways = place.step
    ? [
        { since, until: place.step.until, after: place.step },
        { since: place.step.until, until: at },
      ]
    : [{ since, until: at }];
  for (const way of ways) {
    for await (const step of hubs.steps(tenantId, way)) {
      const text = textOf(options, step, way.since);
      reached = placeBehind(step, reached);
      if (text !== '') yield Buffer.from(text);
      // Whoever may not read any more, or is told to come again, hears that before the rest.
      if (queue.isOver()) return reached;
    }
  }
  return reached;
}

/** How far a reader has come that was told all of a step up to its last entry. */
function placeBehind({ since: from, until, rows, isWhole }: LogStep, { since: sent }: Place): Place {
  const since = laterOf(sent, from);
  if (isWhole) return { since: laterOf(since, until) };
  const last = rows.at(-1);
  return last ? { since, step: { until, atMs: last.created_at.getTime(), id: last.id } } : { since };
}

/**
 * A snapshot from before the database was put back, or of another one, says nothing about the transactions of this one; and it
 * cannot be from after now.
 */
async function isWithinReach({ hubs, clock, tenantId }: TailOptions, { since, step }: Place): Promise<boolean> {
  const oldestMs = clock.nowMs() - RESUME_MS_MAX;
  const newest = step?.until ?? since;
  const isOrdered = laterOf(newest, since) === newest || newest.text === since.text;
  const now = await hubs.snapshot(tenantId);
  return (
    isOrdered &&
    since.takenAtMs >= oldestMs &&
    newest.takenAtMs <= clock.nowMs() + RESUME_MS_MAX &&
    newest.xmax <= now.xmax
  );
}

/** The entries of a step that the reader has not had, each with the place behind it. */
function textOf({ filter }: TailOptions, { since: from, until, rows }: LogStep, sent: Snapshot): string {
  const since = laterOf(sent, from);
  const isNew = (row: TailedRow) => !sees(since, BigInt(row.xid)) && passesFilter(filter, row);
  return rows
    .filter(isNew)
    .map((row) => {
      const step = { until, atMs: row.created_at.getTime(), id: row.id };
      return `id: ${placeText({ since, step })}\ndata: ${JSON.stringify(logBodyOf(row, true))}\n\n`;
    })
    .join('');
}

function eventOf(name: 'open' | 'gap', place: Place): Buffer {
  return Buffer.from(`event: ${name}\nid: ${placeText(place)}\ndata: {}\n\n`);
}

function endOf(reason: EndReason, reached: Place): Buffer {
  return Buffer.from(`event: end\nid: ${placeText(reached)}\ndata: ${JSON.stringify({ reason })}\n\n`);
}
