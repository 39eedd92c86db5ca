import { EXIT } from '../kernel/exit.js';
import type { AskToCount } from '../limits/asking-counter.js';
import type { Order, ToKeeper, ToWorker } from './messages.js';

/** A worker's line to its keeper. */
export interface Line {
  /** Resolves when the keeper has said what to do. */
  readonly order: Promise<Order>;
  readonly ask: AskToCount;
  /** Resolves once the message is out of this process's hands. */
  tell(message: ToKeeper): Promise<void>;
  on<K extends 'open' | 'stop'>(kind: K, act: () => void): void;
  onScrape(render: () => string): void;
  /** Lets the process end by itself. */
  hangUp(): void;
}

/** Answers take a fraction of a millisecond; a keeper that takes this long is stopped, or has lost the processor. */
const ANSWER_MAX_MS = 200;

export function openLine(): Line {
  const asked = new Map<number, (answers: Parameters<Answered>[0]) => void>();
  const acts = new Map<ToWorker['kind'], () => void>();
  const early = new Set<ToWorker['kind']>();
  let render = (): string => '';
  let asks = 0;
  let begin: (order: Order) => void = () => {};
  const order = new Promise<Order>((resolve) => {
    begin = resolve;
  });

  function tell(message: ToKeeper): Promise<void> {
    return new Promise((resolve) => {
      // A keeper that cannot be told is gone, and this process ends for that reason.
      if (process.send === undefined || !process.connected) resolve();
      else process.send(message, undefined, {}, () => resolve());
    });
  }

  function hear(message: ToWorker): void {
    if (message.kind === 'start') begin(message.order);
    else if (message.kind === 'scrape') void tell({ kind: 'figures', id: message.id, text: render() });
    else if (message.kind === 'counted') asked.get(message.id)?.(message.answers);
    else {
      const act = acts.get(message.kind);
      if (act) act();
      else early.add(message.kind);
    }
  }

  process.on('message', hear);
  void tell({ kind: 'here' });
  // Whatever ended the keeper, the database it held ends too, and the next start needs the port.
  process.on('disconnect', () => process.exit(EXIT.unavailable));

  return {
    order,
    tell,
    ask: (batch) =>
      new Promise((resolve, reject) => {
        asks += 1;
        const id = asks;
        const giveUp = (): void => {
          if (asked.delete(id)) reject(new Error('the keeper does not answer'));
        };
        // If it was this process that was held up, the answer lies there unread and is heard before `giveUp` runs.
        const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MAX_MS);
        asked.set(id, (answers) => {
          clearTimeout(timer);
          asked.delete(id);
          resolve(answers);
        });
        void tell({ kind: 'count', id, asks: batch });
      }),
    on(kind, act) {
      acts.set(kind, act);
      if (early.has(kind)) act();
    },
    onScrape(how) {
      render = how;
    },
    hangUp() {
      process.channel?.unref();
    },
  };
}

type Answered = (answers: Extract<ToWorker, { kind: 'counted' }>['answers']) => void;
