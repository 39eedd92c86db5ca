import type { Worker } from 'node:cluster';
import { createLedger } from './figures.js';
import { tell } from './seat.js';

const SCRAPE_MAX_MS = 500;

/** Gathers the metrics of the workers, once for all who ask at the same time. */
export class Scrapes {
  readonly #ledger = createLedger();
  #id = 0;
  #running: Promise<void> | undefined;
  #onAnswer = (): void => {};

  /** The metrics of all workers and, as `own`, of the keeper. Takes a bounded time, whatever a worker does. */
  async render(workers: () => readonly Worker[], own: () => string): Promise<string> {
    this.#running ??= this.#askAll(workers()).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
    return this.#ledger.render(own());
  }

  /** A worker said its figures; `id` is that of the question, if it was asked. */
  note(slot: number, id: number | undefined, text: string): void {
    this.#ledger.note(slot, text);
    if (id === this.#id) this.#onAnswer();
  }

  /** A worker has ended: what it had counted stays, and nobody waits for it. */
  retire(slot: number): void {
    this.#ledger.retire(slot);
    this.#onAnswer();
  }

  /** Resolves when every worker has said its figures, or has had its time. */
  #askAll(workers: readonly Worker[]): Promise<void> {
    this.#id += 1;
    return new Promise((resolve) => {
      let left = workers.length;
      const timer = setTimeout(resolve, SCRAPE_MAX_MS);
      this.#onAnswer = () => {
        left -= 1;
        if (left > 0) return;
        clearTimeout(timer);
        resolve();
      };
      for (const worker of workers) tell(worker, { kind: 'scrape', id: this.#id });
      if (left === 0) this.#onAnswer();
    });
  }
}
