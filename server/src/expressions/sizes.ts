import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';

const NODE_UNITS = 12;
const MEMBER_UNITS = 20;
const DEPTH_MAX = 128;
const SHORT_TEXT_LENGTH = 32;
const BYTES_OF_NUMBER = 8;
const ELEMENT_READ_UNITS = 30;
const MEMBER_READ_UNITS = 120;

export function utf8Bytes(text: string): number {
  if (text.length > SHORT_TEXT_LENGTH) return Buffer.byteLength(text);
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}

/**
 * The bytes a value takes as JSON, nearly (escapes are not counted). Walking costs units, so a list that holds the same
 * large object a thousand times is refused here and never written. What is no JSON is refused as well.
 */
export function jsonBytes(value: unknown, budget: Budget): number {
  if (typeof value !== 'object' || value === null) return measure(value, budget, 0);
  const known = budget.sizes.get(value);
  if (known !== undefined) return known;
  const bytes = measure(value, budget, 0);
  budget.sizes.set(value, bytes);
  return bytes;
}

function measure(value: unknown, budget: Budget, depth: number): number {
  budget.spend(NODE_UNITS);
  if (typeof value === 'string') {
    budget.spend(value.length >> 2);
    return utf8Bytes(value) + 2;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw invalidExpression('A calculation has no finite result; check for a division by 0.');
    return BYTES_OF_NUMBER;
  }
  if (typeof value === 'boolean' || value === null || value === undefined) return 4;
  if (typeof value !== 'object' || depth > DEPTH_MAX) throw invalidExpression('The expression gives no JSON value.');
  if (ArrayBuffer.isView(value)) {
    throw invalidExpression('The result of hmac is bytes; add to_base64 or to_base16.');
  }
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const element of value) bytes += measure(element, budget, depth + 1) + 1;
    return bytes;
  }
  // The keys alone: pairs of key and value would be as many lists to throw away.
  for (const name of Object.keys(value)) {
    budget.spend(MEMBER_UNITS);
    // An object that is no view of bytes has its members under their names.
    bytes += utf8Bytes(name) + 4 + measure((value as Record<string, unknown>)[name], budget, depth + 1);
  }
  return bytes;
}

/**
 * What reading a variable costs. Liquid may turn a list into text, compare it element by element or list an object's
 * members wherever a value stands, and counts none of that; so the reader pays for one such use in advance.
 */
export function readCost(value: unknown, budget: Budget): number {
  if (typeof value === 'string') return value.length >> 1;
  if (typeof value !== 'object' || value === null) return 0;
  const known = budget.readCosts.get(value);
  if (known !== undefined) return known;
  const cost = Array.isArray(value) ? listCost(value, budget, 0) : Object.keys(value).length * MEMBER_READ_UNITS;
  budget.readCosts.set(value, cost);
  return cost;
}

function listCost(list: readonly unknown[], budget: Budget, depth: number): number {
  if (depth > DEPTH_MAX) throw invalidExpression('The lists of the expression are nested too deep.');
  budget.spend(list.length);
  let cost = list.length * ELEMENT_READ_UNITS;
  for (const element of list) {
    if (typeof element === 'string') cost += element.length >> 1;
    else if (Array.isArray(element)) cost += listCost(element, budget, depth + 1);
  }
  return cost;
}
