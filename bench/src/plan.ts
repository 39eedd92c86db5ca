import type { Workshop } from './workshop.js';

/** How thorough a run is. */
export interface Plan {
  readonly isQuick: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** Requests of each kind and size where single answers are timed, over all rounds. */
  readonly samples: number;
  /** The folder of another checkout, built, to compare this build with. */
  readonly against?: string;
  /** Of what is compared with it, one path alone. */
  readonly path?: string;
}

export interface Bench {
  readonly plan: Plan;
  readonly workshop: Workshop;
  say(line: string): void;
}

export function planOf(isQuick: boolean, rounds: number | undefined, against?: string, path?: string): Plan {
  const compared = { ...(against !== undefined && { against }), ...(path !== undefined && { path }) };
  if (isQuick) return { isQuick, rounds: rounds ?? 1, seconds: 1, samples: 40, ...compared };
  return { isQuick, rounds: rounds ?? 5, seconds: 3, samples: 300, ...compared };
}
