import { AppError } from '../kernel/errors.js';
import type { Json } from '../kernel/json.js';
import type { Budget } from './budget.js';

/** A failure costs the making of an error, far more than the evaluation may have paid for. */
const FAILURE_UNITS = 5_000;

/** What a text leaf is: itself, or something to be evaluated. */
type Leaf = (text: string) => string | (() => Json | undefined);

/**
 * Evaluates the text leaves of a mask. What fails is left out, member or element, and never shown as it is: a mask that
 * cannot be computed must not become the plaintext.
 */
export function walkMask(mask: Json, leaf: Leaf, budget: Budget): Json | undefined {
  if (typeof mask === 'string') return evaluateLeaf(leaf(mask), budget);
  if (typeof mask !== 'object' || mask === null) return mask;
  if (isList(mask)) {
    const shown: Json[] = [];
    for (const element of mask) {
      const value = walkMask(element, leaf, budget);
      if (value !== undefined) shown.push(value);
    }
    return shown;
  }
  const shown: [string, Json][] = [];
  for (const [name, member] of Object.entries(mask)) {
    const value = walkMask(member, leaf, budget);
    if (value !== undefined) shown.push([name, value]);
  }
  // Not assigned one by one: a member named `__proto__` stays a member.
  return Object.fromEntries(shown);
}

function evaluateLeaf(leaf: ReturnType<Leaf>, budget: Budget): Json | undefined {
  if (typeof leaf === 'string') return leaf;
  if (budget.isExhausted()) return undefined;
  try {
    return leaf();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  budget.drain(FAILURE_UNITS);
  return undefined;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
