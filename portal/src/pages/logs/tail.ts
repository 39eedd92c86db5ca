import type { Log } from '../../api/generated.js';
import { createIncoming, TAIL_ROWS_MAX } from './incoming.js';
import type { TailState, TailStreamOptions } from './tail-stream.js';
import { openTailStream } from './tail-stream.js';

export interface TailView {
  readonly state: TailState;
  /** Newest first. */
  readonly entries: readonly Log[];
  /** All that arrived, also those that are no longer kept. */
  readonly arrived: number;
  readonly isPaused: boolean;
  /** How many arrived since it was paused. */
  readonly held: number;
  /** How often entries may be missing. */
  readonly gaps: number;
  readonly wasOpened: boolean;
}

export interface Tail {
  subscribe(listener: () => void): () => void;
  view(): TailView;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Rows are shown together: a page that draws each for itself does nothing else under load. */
const SHOW_MS = 100;
const NOTHING: TailView = {
  state: 'connecting',
  entries: [],
  arrived: 0,
  isPaused: false,
  held: 0,
  gaps: 0,
  wasOpened: false,
};

/** Follows the log for a page that can be paused. */
export function createTail(options: Pick<TailStreamOptions, 'urlOf' | 'refusal'>): Tail {
  const listeners = new Set<() => void>();
  const incoming = createIncoming();
  let view = NOTHING;
  let showing: ReturnType<typeof setTimeout> | undefined;
  const change = (changed: Partial<TailView>) => {
    view = { ...view, ...changed };
    for (const listener of listeners) listener();
  };
  const show = () => {
    showing = undefined;
    const { isPaused } = view;
    const entries = isPaused ? view.entries : incoming.taken(view.entries);
    change({ entries, arrived: incoming.arrived(), held: incoming.waiting() });
  };
  const close = openTailStream({
    ...options,
    onEntry: (entry) => {
      incoming.add(entry);
      showing ??= setTimeout(show, SHOW_MS);
    },
    onState: (state) => change({ state, wasOpened: view.wasOpened || state === 'open' }),
    onGap: () => change({ gaps: view.gaps + 1 }),
  });
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    pause: () => change({ isPaused: true }),
    resume: () => {
      change({ isPaused: false });
      show();
    },
    close: () => {
      close();
      clearTimeout(showing);
    },
  };
}

/** What a tail shows: what arrived, above what was there, each once. */
export function rowsOf(arrived: readonly Log[], before: readonly Log[]): readonly Log[] {
  const ids = new Set(arrived.map(({ id }) => id));
  return [...arrived, ...before.filter(({ id }) => !ids.has(id))].slice(0, TAIL_ROWS_MAX);
}
