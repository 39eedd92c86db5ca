import { Drop, toValue } from 'liquidjs';
import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';
import { jsonBytes } from './sizes.js';

const LOOP_MEMBERS: ReadonlySet<unknown> = new Set([
  ...['index', 'index0', 'first', 'last', 'length', 'rindex', 'rindex0', 'name'],
  ...['row', 'col', 'col0', 'col_first', 'col_last'],
]);

/**
 * A member of a value, for every way into data: own members only, so nothing inherited (`constructor`, `__proto__`) can
 * be reached, plus what Liquid promises for lists and text.
 */
export function readMember(holder: unknown, key: unknown): unknown {
  if (holder === null || holder === undefined) return holder;
  const name = toValue(key);
  if (typeof name !== 'string' && typeof name !== 'number') return undefined;
  if (holder instanceof Drop) return readLoopMember(holder, name);
  if (typeof holder === 'string') return name === 'size' ? holder.length : undefined;
  if (typeof holder !== 'object' || ArrayBuffer.isView(holder)) return undefined;
  if (Array.isArray(holder)) return readElement(holder, name);
  // Only own members of an object are read, whatever its type.
  if (Object.hasOwn(holder, name)) return (holder as Record<string | number, unknown>)[name];
  return name === 'size' ? Object.keys(holder).length : undefined;
}

function readElement(list: readonly unknown[], name: string | number): unknown {
  if (name === 'size') return list.length;
  if (name === 'first') return list[0];
  if (name === 'last') return list.at(-1);
  const index = typeof name === 'number' ? name : /^-?\d{1,9}$/.test(name) ? Number(name) : Number.NaN;
  return Number.isInteger(index) ? list.at(index) : undefined;
}

/** Liquid calls any method of its loop objects by name, inherited ones too; only what describes the loop is let through. */
function readLoopMember(loop: Drop, name: string | number): unknown {
  if (!LOOP_MEMBERS.has(name) || !(name in loop)) return undefined;
  // A name of the list above is a number, a text or a method without arguments that gives one.
  const member = (loop as unknown as Record<string | number, unknown>)[name];
  return typeof member === 'function' ? member.call(loop) : member;
}

/** The one text form of a value, in output and in filters: nothing for null, JSON text for objects and lists. */
export function textOf(given: unknown, budget: Budget): string {
  const value = toValue(given);
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  const bytes = jsonBytes(value, budget);
  if (typeof value !== 'object') return String(value);
  budget.spend(bytes);
  return JSON.stringify(value);
}

/** A path such as `a.b` below an item, as the list filters take it. */
export function readPath(item: unknown, path: string): unknown {
  let value = item;
  for (const name of path.split('.')) value = readMember(value, name);
  return value;
}

export function isNil(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Text of a scalar. A filter for text does not guess what to make of a list or an object. */
export function scalarText(value: unknown, filter: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw invalidExpression(`The filter ${filter} works on text, a number or a boolean.`);
}
