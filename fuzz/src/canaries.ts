import { randomBytes, randomInt } from 'node:crypto';
import type { Ask } from './world.js';

/** A card number that may only be seen by who may see it: in no refusal, no log line and no masked view. */
export interface Canary {
  readonly id: string;
  readonly number: string;
}

/**
 * Two cards alike in all that a masked view shows: length, last four, expiry. Whoever sees masks alone, or may only change
 * tokens, must not be able to tell them apart.
 */
export interface CanaryPair {
  readonly type: 'card' | 'card_number';
  readonly cards: readonly [Canary, Canary];
}

const PAIRS = 16;
const DIGITS = 16;

export async function makeCanaries(ask: Ask, key: string): Promise<CanaryPair[]> {
  const makePair = async (place: number): Promise<CanaryPair> => {
    const type = place % 2 === 0 ? 'card' : 'card_number';
    const last4 = digits(4);
    const make = async (): Promise<Canary> => {
      const number = cardNumber(last4);
      const id = `canary-${randomBytes(8).toString('hex')}`;
      const data = type === 'card' ? { number, expiration_month: 4, expiration_year: 2031 } : number;
      await ask(key, 'POST', '/tokens', { id, type, data, deduplicate_token: false });
      return { id, number };
    };
    return { type, cards: [await make(), await make()] };
  };
  return Promise.all(Array.from({ length: PAIRS }, (_, place) => makePair(place)));
}

/** Finds a run of so many digits of one of them in a text. */
export function canaryFinder(pairs: readonly CanaryPair[], length: number): (text: string) => string | undefined {
  const runs = new RegExp(`\\d{${length},}`, 'g');
  const partsOf = (digits: string): string[] =>
    Array.from({ length: digits.length - length + 1 }, (_, at) => digits.slice(at, at + length));
  const parts = new Set(pairs.flatMap(({ cards }) => cards.flatMap(({ number }) => partsOf(number))));
  return (text) => {
    for (const [run] of text.matchAll(runs)) {
      const found = partsOf(run).find((part) => parts.has(part));
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** A number with these last four that passes the Luhn check. Its first digits are drawn, and the one before the last four fits. */
export function cardNumber(last4: string): string {
  const first = `4${digits(DIGITS - last4.length - 2)}`;
  const fitting = [...'0123456789'].find((digit) => isLuhn(`${first}${digit}${last4}`));
  if (fitting === undefined) throw new Error('assertion failed: one of ten digits fits');
  return `${first}${fitting}${last4}`;
}

function digits(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}

function isLuhn(number: string): boolean {
  const sum = [...number].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
