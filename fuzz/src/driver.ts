import type { Answer } from './answer.js';
import { canaryFinder } from './canaries.js';
import type { Notes, Wire } from './case.js';
import { caseOf, NOTHING } from './case.js';
import { LATE_MS, NoAnswer, openConnection } from './connection.js';
import type { Judged, Standard } from './judge.js';
import { faultOf } from './judge.js';
import type { Part } from './part.js';
import { Finding } from './part.js';
import type { Product } from './product.js';
import { randomFor } from './random.js';
import { show } from './request.js';
import type { World } from './world.js';

export interface PartResult {
  readonly name: string;
  readonly cases: number;
  readonly requests: number;
  readonly seconds: number;
  readonly slowestMs: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly findings: readonly string[];
  /** Requests that were answered, but after more than five seconds. */
  readonly late: readonly string[];
}

export interface DriverOptions {
  readonly seed: number;
  readonly product: Product;
  readonly world: World;
  readonly print: (line: string) => void;
}

export type Drive = (part: Part, from: number, count: number) => Promise<PartResult>;

const FINDINGS_MAX = 10;
/** How many digits of a card in a row give it away. In answers of lists that are full of ids some turn up by chance. */
const REFUSED_DIGITS = 8;
const MASKED_DIGITS = 12;

/** Runs cases of a part, several at a time, and holds every answer against the rules. */
export function driverOf(options: DriverOptions): Drive {
  const { victim, neighbour, canaries } = options.world;
  const standard: Standard = {
    foreign: [victim.mark, neighbour.mark, ...victim.proxies.map(({ key }) => key)],
    foreignIds: [
      ...[victim.id, victim.applicationId, victim.tokenId, ...victim.scratchTokenIds, ...victim.reactorIds],
      ...victim.proxies.map(({ id }) => id),
    ],
    mayOverload: false,
    canaryIn: {
      refused: canaryFinder(canaries, REFUSED_DIGITS),
      masked: canaryFinder(canaries, MASKED_DIGITS),
    },
  };
  return (part, from, count) => new PartRun(options, standard, part, from, count).run();
}

class PartRun implements Notes {
  readonly #options: DriverOptions;
  readonly #standard: Standard;
  readonly #part: Part;
  readonly #from: number;
  readonly #count: number;
  readonly #statuses = new Map<number, number>();
  readonly #findings: string[] = [];
  readonly #late: string[] = [];
  #requests = 0;
  #slowestMs = 0;
  #slowestCase: number;
  #next: number;

  constructor(options: DriverOptions, standard: Standard, part: Part, from: number, count: number) {
    this.#options = options;
    this.#standard = standard;
    this.#part = part;
    this.#from = from;
    this.#count = count;
    this.#slowestCase = from;
    this.#next = from;
  }

  async run(): Promise<PartResult> {
    const { product, print } = this.#options;
    const { name, width } = this.#part;
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: Math.min(width, this.#count) }, () => this.#work()));
    const ended = product.ended();
    if (ended !== undefined) this.#findings.push(`${name}: ${ended}`);
    const seconds = (performance.now() - startedMs) / 1_000;
    const slowest = `slowest ${this.#slowestMs.toFixed(0)} ms (case ${this.#slowestCase})`;
    print(`${name}: ${this.#requests} requests in ${seconds.toFixed(1)} s, ${slowest}, ${summary(this.#statuses)}`);
    return {
      name,
      cases: this.#next - this.#from,
      requests: this.#requests,
      seconds,
      slowestMs: this.#slowestMs,
      statuses: this.#statuses,
      findings: this.#findings,
      late: this.#late,
    };
  }

  countRequests(more: number): void {
    this.#requests += more;
  }

  noteAnswer(answer: Answer, judged: Judged, index: number): void {
    if (answer.ms > LATE_MS) this.#late.push(`${this.#part.name} ${index}: answered after ${Math.round(answer.ms)} ms`);
    this.#statuses.set(answer.status, (this.#statuses.get(answer.status) ?? 0) + 1);
    if (answer.ms > this.#slowestMs) {
      this.#slowestMs = answer.ms;
      this.#slowestCase = index;
    }
    const fault = faultOf(answer, judged, this.#standard);
    if (fault !== undefined) throw new Finding(fault);
  }

  /** One case after the other, on one connection. */
  async #work(): Promise<void> {
    const { seed, product, world } = this.#options;
    const connection = openConnection(product.port);
    while (this.#next < this.#from + this.#count && this.#findings.length < FINDINGS_MAX) {
      if (product.ended() !== undefined) break;
      const index = this.#next;
      this.#next += 1;
      const wire: Wire = { sent: NOTHING, answered: [] };
      const random = randomFor(`${seed}:${this.#part.name}:${index}`);
      try {
        await this.#part.run(caseOf({ index, random, world, connection, wire, port: product.port, notes: this }));
      } catch (error) {
        this.#report(index, error, wire);
      }
    }
    connection.close();
  }

  /** Whatever else is thrown is a finding too: a case that cannot go on met something it did not expect. */
  #report(index: number, error: unknown, { sent, answered }: Wire): void {
    const { seed, product, print } = this.#options;
    const { name } = this.#part;
    const reason = error instanceof Error ? error.message : String(error);
    const where = error instanceof Finding || error instanceof NoAnswer ? '' : `\n${(error as Error).stack ?? ''}`;
    const ended = product.ended();
    const answers = answered.map(({ status, body }) => `${status} ${show(body)}`).join('\n');
    const command = `npm run test:fuzz -- --seed ${seed} --only ${name} --from ${index} --count 1`;
    const text = `${name} ${index}: ${reason}${where}${ended === undefined ? '' : `; ${ended}`}\n  ${command}\n${indented(show(sent))}\n  ->\n${indented(answers)}`;
    this.#findings.push(text);
    print(text);
  }
}

export function summary(statuses: ReadonlyMap<number, number>): string {
  return [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${status}: ${times}`)
    .join(', ');
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}
