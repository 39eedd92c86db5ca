import { constants } from 'node:os';
import { afterSameWish } from './same-wish.js';

export interface Interruption {
  readonly isAsked: () => boolean;
  /** What the process ends with after a signal, as a shell would say it. */
  readonly exitCode: () => number;
  readonly close: () => void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * The first signal asks for a stop at the next good place, and those that come with it ask for the same. One that comes
 * later ends the process as it always would.
 */
export function expectInterruption(onAsked: () => void): Interruption {
  let asked: (typeof SIGNALS)[number] | undefined;
  const stopListening = () => {
    for (const signal of SIGNALS) process.removeListener(signal, ask);
  };
  function ask(signal: NodeJS.Signals): void {
    if (asked !== undefined) return;
    asked = SIGNALS.find((name) => name === signal);
    afterSameWish(stopListening);
    onAsked();
  }
  for (const signal of SIGNALS) process.on(signal, ask);
  return {
    isAsked: () => asked !== undefined,
    exitCode: () => 128 + (asked === undefined ? 0 : constants.signals[asked]),
    close() {
      // What follows a stop, such as closing the database, must not be ended by a signal that came with the first.
      if (asked === undefined) stopListening();
    },
  };
}
