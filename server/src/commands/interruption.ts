import { constants } from 'node:os';

export interface Interruption {
  readonly isAsked: () => boolean;
  /** What the process ends with after a signal, as a shell would say it. */
  readonly exitCode: () => number;
  readonly close: () => void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The first signal asks for a stop at the next good place; a second one ends the process as it always would. */
export function expectInterruption(onAsked: () => void): Interruption {
  let asked: (typeof SIGNALS)[number] | undefined;
  const close = () => {
    for (const signal of SIGNALS) process.removeListener(signal, ask);
  };
  function ask(signal: NodeJS.Signals): void {
    asked = SIGNALS.find((name) => name === signal);
    close();
    onAsked();
  }
  for (const signal of SIGNALS) process.on(signal, ask);
  return {
    isAsked: () => asked !== undefined,
    exitCode: () => 128 + (asked === undefined ? 0 : constants.signals[asked]),
    close,
  };
}
