import type { Answer } from './answer.js';
import type { Connection } from './connection.js';
import { NoAnswer } from './connection.js';
import type { Judged } from './judge.js';
import type { Case } from './part.js';
import { Finding } from './part.js';
import type { Random } from './random.js';
import { exchangeRaw } from './raw-exchange.js';
import type { Sent } from './request.js';
import { bytesOf, request } from './request.js';
import type { World } from './world.js';

/** Where a case reports what it did. */
export interface Notes {
  countRequests(more: number): void;
  /** Throws a Finding where the answer breaks a rule. */
  noteAnswer(answer: Answer, judged: Judged, index: number): void;
}

/** What a case sent last and what came back, for its report. */
export interface Wire {
  sent: Buffer;
  answered: readonly Answer[];
}

export interface CaseOptions {
  readonly index: number;
  readonly random: Random;
  readonly world: World;
  readonly connection: Connection;
  readonly port: number;
  readonly wire: Wire;
  readonly notes: Notes;
}

export const NOTHING = Buffer.alloc(0);
/** A refusal may overtake a body that is still being sent; the product then closes, and the answer may be lost with it. */
const CUT_BYTES_MIN = 65_536;

/** What one case may do: each answer is judged, and what was on the wire last is kept. */
export function caseOf(options: CaseOptions): Case {
  const { index, random, world, notes } = options;
  const send = (sent: Sent): Promise<Answer> => sendOne(options, sent);
  return {
    index,
    random,
    world,
    send,
    call: (key, method, target, body) => send(request(key, method, target, body)),
    sendAll: (list) => sendAll(options, list),
    async raw(given) {
      begin(options, given.bytes, 1);
      const outcome = await exchangeRaw({ ...given, port: options.port });
      options.wire.answered = outcome.answers;
      const text = (): string => given.bytes.toString('latin1');
      for (const answer of outcome.answers) notes.noteAnswer(answer, { method: 'GET', target: '/', text }, index);
      return outcome;
    },
    check(claim, otherwise) {
      if (!claim) throw new Finding(otherwise);
    },
    count: (more) => notes.countRequests(more),
  };
}

async function sendOne(options: CaseOptions, sent: Sent): Promise<Answer> {
  const bytes = bytesOf(sent);
  begin(options, bytes, 1);
  try {
    const answer = await options.connection.exchange(bytes, sent.method === 'HEAD');
    note(options, sent, bytes, answer);
    return answer;
  } catch (error) {
    if (!(error instanceof NoAnswer) || error.isHang || bytes.length < CUT_BYTES_MIN) throw error;
    return { status: 413, headers: new Map(), body: '', ms: 0 };
  }
}

async function sendAll(options: CaseOptions, list: readonly Sent[]): Promise<Answer[]> {
  const messages = list.map((sent) => ({ bytes: bytesOf(sent), isHead: sent.method === 'HEAD' }));
  begin(options, Buffer.concat(messages.map(({ bytes }) => bytes)), list.length);
  const answers = await options.connection.exchangeAll(messages);
  list.forEach((sent, at) => {
    const [message, answer] = [messages[at], answers[at]];
    if (message === undefined || answer === undefined) throw new Error('assertion failed: all were answered');
    note(options, sent, message.bytes, answer);
  });
  return answers;
}

function begin({ wire, notes }: CaseOptions, bytes: Buffer, requests: number): void {
  wire.sent = bytes;
  wire.answered = [];
  notes.countRequests(requests);
}

function note({ index, world, wire, notes }: CaseOptions, sent: Sent, bytes: Buffer, answer: Answer): void {
  wire.sent = bytes;
  wire.answered = [answer];
  const isMasked = sent.headers.some(([, value]) => world.maskedKeys.has(value));
  const { method, target } = sent;
  notes.noteAnswer(answer, { method, target, isMasked, text: () => bytes.toString('utf8') }, index);
}
