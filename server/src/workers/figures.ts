import type { Figures } from '../telemetry/merge-figures.js';
import { addFigures, lastingFigures, noFigures, readFigures, renderFigures } from '../telemetry/merge-figures.js';

/** The metrics of all workers as one text. */
export interface Ledger {
  /** Keeps what a worker last said of itself. */
  note(slot: number, text: string): void;
  /** A worker has ended: what it had counted stays. */
  retire(slot: number): void;
  render(own: string): string;
}

export function createLedger(): Ledger {
  const past = noFigures();
  const present = new Map<number, Figures>();
  return {
    note(slot, text) {
      present.set(slot, readFigures(text));
    },
    retire(slot) {
      const last = present.get(slot);
      if (last) addFigures(past, lastingFigures(last), String(slot));
      present.delete(slot);
    },
    render(own) {
      const sum = noFigures();
      addFigures(sum, past, '');
      for (const [slot, figures] of [...present].sort(([a], [b]) => a - b)) addFigures(sum, figures, String(slot));
      addFigures(sum, readFigures(own), 'keeper');
      return renderFigures(sum);
    },
  };
}
