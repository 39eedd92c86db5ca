import type { Gauge } from '../telemetry/metrics.js';
import type { OutboundFailure, RefusalReason } from './outbound-error.js';
import { OUTBOUND_FAILURES } from './outbound-error.js';

export type OutboundOutcome = 'answered' | OutboundFailure;

export interface OutboundFigures {
  countOutcome(outcome: OutboundOutcome): void;
  countRefusal(reason: RefusalReason): void;
  /** For the metrics. No label is text of a tenant. */
  readonly gauges: readonly Gauge[];
}

export interface OutboundStates {
  readonly inFlight: () => number;
  readonly waiting: () => number;
  readonly idle: () => number;
}

export function createOutboundFigures(states: OutboundStates): OutboundFigures {
  const outcomes = new Map<string, number>(['answered', ...OUTBOUND_FAILURES].map((outcome) => [outcome, 0]));
  const refusals = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  const gauge = (name: string, help: string, read: () => number): Gauge => ({
    name: `strongroom_outbound_${name}`,
    help,
    type: 'gauge',
    read,
  });
  const counter = (name: string, help: string, label: string, counts: ReadonlyMap<string, number>): Gauge => ({
    name: `strongroom_outbound_${name}`,
    help,
    type: 'counter',
    label,
    read: () => counts,
  });
  return {
    countOutcome: (outcome) => count(outcomes, outcome),
    countRefusal: (reason) => count(refusals, reason),
    gauges: [
      counter('requests_total', 'Outbound requests of tenant code that are over, by outcome.', 'outcome', outcomes),
      counter('refusals_total', 'Outbound requests that the policy refused, by reason.', 'reason', refusals),
      gauge('requests_in_flight', 'Outbound requests under way.', states.inFlight),
      gauge('requests_waiting', 'Outbound requests that wait for a place.', states.waiting),
      gauge('connections_idle', 'Connections to destinations kept for the next request.', states.idle),
    ],
  };
}
