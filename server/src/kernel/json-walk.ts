import { elementPath, memberPath } from './field-faults.js';
import type { Json } from './json.js';
import { isJsonArray, isJsonObject } from './json-object.js';

/** Visits every value in document order. What the visitor claims for itself is not entered. */
export function walkJson(value: Json, path: string, claims: (value: Json, path: string) => boolean): void {
  if (claims(value, path)) return;
  if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) walkJson(member, memberPath(path, name), claims);
  } else if (isJsonArray(value)) {
    for (const [index, element] of value.entries()) walkJson(element, elementPath(path, index), claims);
  }
}

/**
 * The same shape with some values replaced, asked for in the order of `walkJson`. What is replaced is not entered. A
 * member called `__proto__` stays an ordinary one, because it is defined, not assigned.
 */
export function replaceJson(value: Json, replacement: (value: Json) => Json | undefined): Json {
  const replaced = replacement(value);
  if (replaced !== undefined) return replaced;
  if (isJsonObject(value)) {
    const object: Record<string, Json> = {};
    for (const name of Object.keys(value)) setMember(object, name, replaceJson(value[name] ?? null, replacement));
    return object;
  }
  return isJsonArray(value) ? value.map((element) => replaceJson(element, replacement)) : value;
}

function setMember(object: Record<string, Json>, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else object[name] = value;
}
