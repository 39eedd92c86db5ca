import { elementPath, memberPath } from './field-faults.js';
import type { Json } from './json.js';
import { isJsonArray, isJsonObject } from './json-object.js';

/**
 * Visits every value in document order. What the visitor claims for itself is not entered. The path of the value is put
 * together only where the visitor asks for it.
 */
export function walkJson(value: Json, path: string, claims: (value: Json, pathOf: () => string) => boolean): void {
  const steps: (string | number)[] = [];
  const pathOf = (): string =>
    steps.reduce<string>(
      (parent, step) => (typeof step === 'number' ? elementPath(parent, step) : memberPath(parent, step)),
      path,
    );
  const walk = (visited: Json): void => {
    if (claims(visited, pathOf)) return;
    if (isJsonObject(visited)) {
      for (const name of Object.keys(visited)) {
        steps.push(name);
        walk(visited[name] ?? null);
        steps.pop();
      }
    } else if (isJsonArray(visited)) {
      for (let index = 0; index < visited.length; index += 1) {
        steps.push(index);
        walk(visited[index] ?? null);
        steps.pop();
      }
    }
  };
  walk(value);
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

/** Sets a member of an object that is being made. One named `__proto__` is defined, because assigning would set the prototype. */
export function setMember(object: Record<string, Json>, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else object[name] = value;
}

/** Whether JSON has more values than `max`, objects and arrays included. Stops counting there. */
export function hasMoreThan(value: Json, max: number): boolean {
  let left = max;
  const count = (counted: Json): boolean => {
    left -= 1;
    if (left < 0) return true;
    if (isJsonArray(counted)) return counted.some(count);
    return isJsonObject(counted) && Object.keys(counted).some((name) => count(counted[name] ?? null));
  };
  return count(value);
}
