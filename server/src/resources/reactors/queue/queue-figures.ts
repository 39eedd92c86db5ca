import type { Gauge } from '../../../telemetry/metrics.js';

/** What became of the requests this process took. */
export interface QueueCounters {
  run(outcome: 'concluded' | 'postponed' | 'failed'): void;
  callback(outcome: 'delivered' | 'postponed' | 'failed'): void;
}

export interface QueueFigures extends QueueCounters {
  readonly gauges: readonly Gauge[];
}

interface QueueStates {
  /** Taken since this process started, and held now, by what for. */
  readonly claimed: () => ReadonlyMap<string, number>;
  readonly held: () => ReadonlyMap<string, number>;
}

export function createQueueFigures(states: QueueStates): QueueFigures {
  const runs = counts(['concluded', 'postponed', 'failed']);
  const callbacks = counts(['delivered', 'postponed', 'failed']);
  const name = (rest: string) => `strongroom_reactor_${rest}`;
  return {
    run: (outcome) => add(runs, outcome),
    callback: (outcome) => add(callbacks, outcome),
    gauges: [
      {
        name: name('requests_held'),
        help: 'Queued calls of Reactors that this process works on, by what is done.',
        type: 'gauge',
        label: 'step',
        read: states.held,
      },
      {
        name: name('requests_claimed_total'),
        help: 'Queued calls of Reactors that this process took, by what for.',
        type: 'counter',
        label: 'step',
        read: states.claimed,
      },
      {
        name: name('requests_total'),
        help: 'Runs of queued calls: with a result, put off, or given up.',
        type: 'counter',
        label: 'outcome',
        read: () => runs,
      },
      {
        name: name('callbacks_total'),
        help: 'Callbacks: delivered, put off, or given up.',
        type: 'counter',
        label: 'outcome',
        read: () => callbacks,
      },
    ],
  };
}

function counts(outcomes: readonly string[]): Map<string, number> {
  return new Map(outcomes.map((outcome) => [outcome, 0]));
}

function add(to: Map<string, number>, outcome: string): void {
  to.set(outcome, (to.get(outcome) ?? 0) + 1);
}
