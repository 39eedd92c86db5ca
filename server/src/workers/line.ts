import { EXIT } from '../kernel/exit.js';
import type { AskToCount } from '../limits/asking-counter.js';
import type { Order, ToKeeper, ToWorker } from './messages.js';

type CountAnswers = Extract<ToWorker, { kind: 'counted' }>['answers'];

/** Answers take a fraction of a millisecond; a keeper that takes this long is stopped, or has lost the processor. */
const ANSWER_MAX_MS = 200;

/** A worker's line to its keeper. */
export class Line {
  /** Resolves when the keeper has said what to do. */
  readonly order: Promise<Order>;
  readonly #asked = new Map<number, (answers: CountAnswers) => void>();
  readonly #acts = new Map<ToWorker['kind'], () => void>();
  readonly #early = new Set<ToWorker['kind']>();
  #render = (): string => '';
  #asks = 0;
  #begin: (order: Order) => void = () => {};

  constructor() {
    this.order = new Promise<Order>((resolve) => {
      this.#begin = resolve;
    });
    process.on('message', (message: ToWorker) => this.#hear(message));
    void this.tell({ kind: 'here' });
    // Whatever ended the keeper, the database it held ends too, and the next start needs the port.
    process.on('disconnect', () => process.exit(EXIT.unavailable));
  }

  /** Has a batch counted by the keeper. */
  readonly ask: AskToCount = (batch) =>
    new Promise((resolve, reject) => {
      this.#asks += 1;
      const id = this.#asks;
      const giveUp = (): void => {
        if (this.#asked.delete(id)) reject(new Error('the keeper does not answer'));
      };
      // If this process itself was blocked, the answer is already in its queue and is read before `giveUp` runs.
      const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MAX_MS);
      this.#asked.set(id, (answers) => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve(answers);
      });
      void this.tell({ kind: 'count', id, asks: batch });
    });

  /** Resolves once the message is out of this process's hands. */
  tell(message: ToKeeper): Promise<void> {
    return new Promise((resolve) => {
      // A keeper that cannot be told is gone, and this process ends for that reason.
      if (process.send === undefined || !process.connected) resolve();
      else process.send(message, undefined, {}, () => resolve());
    });
  }

  on(kind: 'open' | 'stop', act: () => void): void {
    this.#acts.set(kind, act);
    if (this.#early.has(kind)) act();
  }

  onScrape(render: () => string): void {
    this.#render = render;
  }

  /** Lets the process end by itself. */
  hangUp(): void {
    process.channel?.unref();
  }

  #hear(message: ToWorker): void {
    if (message.kind === 'start') this.#begin(message.order);
    else if (message.kind === 'scrape') void this.tell({ kind: 'figures', id: message.id, text: this.#render() });
    else if (message.kind === 'counted') this.#asked.get(message.id)?.(message.answers);
    else {
      const act = this.#acts.get(message.kind);
      if (act) act();
      else this.#early.add(message.kind);
    }
  }
}
