import type { Faults } from './field-faults.js';
import { addFault, elementPath, memberPath } from './field-faults.js';
import type { Json } from './json.js';
import { isJsonObject } from './json-object.js';

const MESSAGE =
  'must not hold a number beyond ±9007199254740991, or with more digits than can be kept: it could not be returned unchanged, send it as text';

/**
 * Refuses numbers that could not be returned as they were sent. Every number beyond 2^53 is an integer that may have been
 * rounded; those with too many digits, or too small, come out of the parser as infinity. The first walk makes no paths,
 * since almost every body passes.
 */
export function refuseUnsafeNumbers(value: Json, path: string, faults: Faults): void {
  if (holdsUnsafeNumber(value)) name(value, path, faults);
}

function holdsUnsafeNumber(value: Json): boolean {
  if (typeof value === 'number') return isUnsafe(value);
  if (typeof value !== 'object' || value === null) return false;
  if (!isJsonObject(value)) return value.some(holdsUnsafeNumber);
  for (const key of Object.keys(value)) {
    if (holdsUnsafeNumber(value[key] ?? null)) return true;
  }
  return false;
}

/** Fields that a refusal names at most. */
const NAMED_MAX = 100;

function name(value: Json, path: string, faults: Faults): void {
  if (faults.count >= NAMED_MAX) return;
  if (typeof value === 'number') {
    if (isUnsafe(value)) addFault(faults, path, MESSAGE);
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) name(member, memberPath(path, key), faults);
  } else if (typeof value === 'object' && value !== null) {
    for (const [index, element] of value.entries()) name(element, elementPath(path, index), faults);
  }
}

function isUnsafe(value: number): boolean {
  return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER;
}
