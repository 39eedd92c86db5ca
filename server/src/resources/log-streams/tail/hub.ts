import { assert } from '../../../kernel/assert.js';
import type { Clock } from '../../../kernel/clock.js';
import { FIRST_ID } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import type { TailedRow } from '../../logs/index.js';
import { listLogsSince, takeSnapshot } from '../../logs/index.js';
import type { Snapshot } from './snapshot.js';
import { readSnapshot } from './snapshot.js';

/** A part of what is new from one snapshot to the next. */
export interface LogStep {
  readonly since: Snapshot;
  readonly until: Snapshot;
  readonly rows: readonly TailedRow[];
  /** All of the step has been told. */
  readonly isWhole: boolean;
}

export interface StepReader {
  /** Told of every look, whether or not it found anything. */
  take(step: LogStep): void;
  /** Nothing more can be told. */
  fail(): void;
}

/** What looks for new entries, once for all readers of a tenant in this process. */
export interface LogHubs {
  /** Resolves with the snapshot from which on the reader is told everything. */
  join(tenantId: string, reader: StepReader): Promise<Snapshot>;
  leave(tenantId: string, reader: StepReader): void;
  /** New entries from one snapshot to another, a page at a time; to that of the look itself without one. */
  steps(tenantId: string, from: StepFrom): AsyncGenerator<LogStep, void, void>;
  snapshot(tenantId: string): Promise<Snapshot>;
}

export interface StepFrom {
  readonly since: Snapshot;
  readonly until?: Snapshot | undefined;
  /** Behind this entry. */
  readonly after?: { readonly atMs: number; readonly id: string } | undefined;
}

export interface LogHubsOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** How long it rests between two looks; a second unless told. */
  readonly restMs?: number;
}

const REST_MS = 1_000;
/** A look that takes long is followed by a rest of so many times as long: many entries must not take a connection for good. */
const REST_TIMES = 5;
const STEP_ROWS_MAX = 500;
/**
 * An entry has the time at which its request began, and is seen once that has ended. So a look begins this long before the
 * snapshot it goes on from. Clocks of servers may differ by some of it.
 */
const LOOK_BACK_MS = 5 * 60_000;

interface Hub {
  at: Snapshot;
  readonly readers: Set<StepReader>;
  /** Those that wait until a step is whole. */
  waiting: (() => void)[];
  isStepping: boolean;
  /** Nobody may join any more. */
  isOver: boolean;
  timer: NodeJS.Timeout | undefined;
}

export function createLogHubs(options: LogHubsOptions): LogHubs {
  const hubs = new Map<string, Promise<Hub>>();
  const steps = createSteps(options);
  const snapshot = createTake(options);
  const look = createHubLook(options, steps, end);

  function hubOf(tenantId: string): Promise<Hub> {
    const known = hubs.get(tenantId);
    if (known) return known;
    const made = snapshot(tenantId).then((at): Hub => {
      return { at, readers: new Set(), waiting: [], isStepping: false, isOver: false, timer: undefined };
    });
    hubs.set(tenantId, made);
    made.catch(() => hubs.delete(tenantId));
    return made;
  }

  function end(tenantId: string, hub: Hub): void {
    // Another one may have taken its place.
    if (hub.isOver) return;
    hub.isOver = true;
    clearTimeout(hub.timer);
    hubs.delete(tenantId);
  }

  async function join(tenantId: string, reader: StepReader): Promise<Snapshot> {
    const hub = await hubOf(tenantId);
    while (hub.isStepping) await new Promise<void>((resolve) => hub.waiting.push(resolve));
    // Its last reader may have left meanwhile.
    if (hub.isOver) return join(tenantId, reader);
    hub.readers.add(reader);
    if (hub.timer === undefined) hub.timer = setTimeout(() => void look(tenantId, hub), 0);
    return hub.at;
  }

  return {
    steps,
    snapshot,
    join,
    leave(tenantId, reader) {
      void hubs.get(tenantId)?.then(
        (hub) => {
          hub.readers.delete(reader);
          if (hub.readers.size === 0) end(tenantId, hub);
        },
        () => {},
      );
    },
  };
}

/** Looks for what is new, tells all readers, and looks again after a rest while there are any. */
function createHubLook(
  { clock, restMs = REST_MS }: LogHubsOptions,
  steps: LogHubs['steps'],
  end: (tenantId: string, hub: Hub) => void,
): (tenantId: string, hub: Hub) => Promise<void> {
  return async function look(tenantId, hub) {
    const beganMs = clock.monotonicMs();
    hub.isStepping = true;
    try {
      for await (const step of steps(tenantId, { since: hub.at })) {
        for (const reader of [...hub.readers]) reader.take(step);
        if (step.isWhole) hub.at = step.until;
      }
    } catch {
      // Readers end and come back; whoever then finds the database away is told so.
      end(tenantId, hub);
      for (const reader of [...hub.readers]) reader.fail();
      hub.readers.clear();
    }
    hub.isStepping = false;
    for (const goOn of hub.waiting.splice(0)) goOn();
    if (hub.readers.size === 0 || hub.isOver) return;
    const rest = Math.max(restMs, (clock.monotonicMs() - beganMs) * REST_TIMES);
    hub.timer = setTimeout(() => void look(tenantId, hub), rest);
  };
}

function createTake({ database, clock }: LogHubsOptions): LogHubs['snapshot'] {
  return async (tenantId) => {
    const takenAtMs = clock.nowMs();
    return taken(await database.read(tenantId, takeSnapshot), takenAtMs);
  };
}

function createSteps({ database, clock }: LogHubsOptions): LogHubs['steps'] {
  return async function* steps(tenantId, { since, until: given, after: place }) {
    let until = given;
    const fromMs = since.takenAtMs - LOOK_BACK_MS;
    for (let after = place ?? { atMs: fromMs, id: FIRST_ID }; ; ) {
      const [from, known, takenAtMs] = [after, until, clock.nowMs()];
      const { rows, snapshot } = await database.readPage(tenantId, (tx) =>
        listLogsSince(tx, {
          ...{ since: since.text, sinceXmin: String(since.xmin), until: known?.text },
          ...{ fromMs, after: from, limit: STEP_ROWS_MAX },
        }),
      );
      const end = known ?? taken(snapshot, takenAtMs);
      until = end;
      const last = rows.at(-1);
      const isWhole = last === undefined || rows.length < STEP_ROWS_MAX;
      yield { since, until: end, rows, isWhole };
      if (isWhole) return;
      after = { atMs: last.created_at.getTime(), id: last.id };
    }
  };
}

function taken(text: string, takenAtMs: number): Snapshot {
  const snapshot = readSnapshot(text, takenAtMs);
  assert(snapshot !== undefined, 'the database writes snapshots in their own form');
  return snapshot;
}
