import type { Answer } from './answer.js';
import { canaryFinder } from './canaries.js';
import { LATE_MS, NoAnswer, openConnection } from './connection.js';
import type { Judged } from './judge.js';
import { faultOf } from './judge.js';
import type { Case, Part } from './part.js';
import { Finding } from './part.js';
import type { Product } from './product.js';
import { randomFor } from './random.js';
import { exchangeRaw } from './raw-exchange.js';
import type { Sent } from './request.js';
import { bytesOf, request, show } from './request.js';
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
const NOTHING = Buffer.alloc(0);
/** A refusal may overtake a body that is still being sent; the product then closes, and the answer may be lost with it. */
const CUT_BYTES_MIN = 65_536;

/** Runs cases of a part, several at a time, and holds every answer against the rules. */
export function driverOf({ seed, product, world, print }: DriverOptions): Drive {
  const { mark, id, applicationId, tokenId, scratchTokenIds } = world.victim;
  const foreignIds = [id, applicationId, tokenId, ...scratchTokenIds];
  const foreign = [mark, world.neighbour.mark];
  const canaryIn = {
    refused: canaryFinder(world.canaries, REFUSED_DIGITS),
    masked: canaryFinder(world.canaries, MASKED_DIGITS),
  };
  const standard = { foreign, foreignIds, mayOverload: false, canaryIn };

  return async (part, from, count) => {
    const statuses = new Map<number, number>();
    const findings: string[] = [];
    const late: string[] = [];
    let requests = 0;
    let slowestMs = 0;
    let slowestCase = from;
    let next = from;
    const startedMs = performance.now();

    function note(answer: Answer, judged: Judged, index: number): void {
      if (answer.ms > LATE_MS) late.push(`${part.name} ${index}: answered after ${Math.round(answer.ms)} ms`);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.ms > slowestMs) {
        slowestMs = answer.ms;
        slowestCase = index;
      }
      const fault = faultOf(answer, judged, standard);
      if (fault !== undefined) throw new Finding(fault);
    }

    async function worker(): Promise<void> {
      const connection = openConnection(product.port);
      for (;;) {
        const index = next;
        if (index >= from + count || findings.length >= FINDINGS_MAX || product.ended() !== undefined) break;
        next += 1;
        let last: Buffer = NOTHING;
        let answered: readonly Answer[] = [];
        const noteSent = (sent: Sent, bytes: Buffer, answer: Answer): void => {
          last = bytes;
          answered = [answer];
          const isMasked = sent.headers.some(([, value]) => world.maskedKeys.has(value));
          const { method, target } = sent;
          note(answer, { method, target, isMasked, text: () => bytes.toString('utf8') }, index);
        };
        const send = async (sent: Sent): Promise<Answer> => {
          const bytes = bytesOf(sent);
          last = bytes;
          answered = [];
          requests += 1;
          try {
            const answer = await connection.exchange(bytes, sent.method === 'HEAD');
            noteSent(sent, bytes, answer);
            return answer;
          } catch (error) {
            if (!(error instanceof NoAnswer) || error.isHang || bytes.length < CUT_BYTES_MIN) throw error;
            return { status: 413, headers: new Map(), body: '', ms: 0 };
          }
        };
        const one: Case = {
          index,
          random: randomFor(`${seed}:${part.name}:${index}`),
          world,
          send,
          call: (key, method, target, body) => send(request(key, method, target, body)),
          async sendAll(list) {
            const messages = list.map((sent) => ({ bytes: bytesOf(sent), isHead: sent.method === 'HEAD' }));
            last = Buffer.concat(messages.map(({ bytes }) => bytes));
            answered = [];
            requests += list.length;
            const answers = await connection.exchangeAll(messages);
            list.forEach((sent, at) => {
              const [message, answer] = [messages[at], answers[at]];
              if (message === undefined || answer === undefined) throw new Error('assertion failed: all were answered');
              noteSent(sent, message.bytes, answer);
            });
            return answers;
          },
          async raw(options) {
            last = options.bytes;
            answered = [];
            requests += 1;
            const outcome = await exchangeRaw({ ...options, port: product.port });
            answered = outcome.answers;
            const text = (): string => options.bytes.toString('latin1');
            for (const answer of outcome.answers) note(answer, { method: 'GET', target: '/', text }, index);
            return outcome;
          },
          check(claim, otherwise) {
            if (!claim) throw new Finding(otherwise);
          },
          count(more) {
            requests += more;
          },
        };
        try {
          await part.run(one);
        } catch (error) {
          // Whatever else is thrown is a finding too: a case that cannot go on met something it did not expect.
          const reason = error instanceof Error ? error.message : String(error);
          const where =
            error instanceof Finding || error instanceof NoAnswer ? '' : `\n${(error as Error).stack ?? ''}`;
          const ended = product.ended();
          const answers = answered.map(({ status, body }) => `${status} ${show(body)}`).join('\n');
          const command = `npm run test:fuzz -- --seed ${seed} --only ${part.name} --from ${index} --count 1`;
          const text = `${part.name} ${index}: ${reason}${where}${ended === undefined ? '' : `; ${ended}`}\n  ${command}\n${indented(show(last))}\n  ->\n${indented(answers)}`;
          findings.push(text);
          print(text);
        }
      }
      connection.close();
    }

    await Promise.all(Array.from({ length: Math.min(part.width, count) }, worker));
    const ended = product.ended();
    if (ended !== undefined) findings.push(`${part.name}: ${ended}`);
    const seconds = (performance.now() - startedMs) / 1_000;
    print(
      `${part.name}: ${requests} requests in ${seconds.toFixed(1)} s, slowest ${slowestMs.toFixed(0)} ms (case ${slowestCase}), ${summary(statuses)}`,
    );
    return { name: part.name, cases: next - from, requests, seconds, slowestMs, statuses, findings, late };
  };
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
