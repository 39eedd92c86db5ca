import type { FieldErrors } from './errors.js';

/** A body of a megabyte can be wrong in a hundred thousand places; nobody reads more than this. */
const FAULTY_FIELDS_MAX = 100;
const FIELD_NAME_SHOWN_MAX = 100;

/** Collects what is wrong with one part of a body, and counts it. */
export interface Faults {
  readonly errors: FieldErrors;
  /** Where the part stands in the body; empty for the whole body. */
  readonly path: string;
  count: number;
}

export function faultsUnder(errors: FieldErrors, path: string): Faults {
  return { errors, path, count: 0 };
}

/** `field` is relative to the part; empty means the part itself. The message never repeats what the client sent. */
export function addFault(faults: Faults, field: string, message: string): void {
  faults.count += 1;
  const path = field.startsWith('[') ? faults.path + field : joined(faults.path, field);
  const { errors } = faults;
  // Asked for by ownership and set by definition, because a client may call a field `constructor` or `__proto__`.
  const messages = Object.hasOwn(errors, path) ? errors[path] : undefined;
  if (messages !== undefined) {
    if (!messages.includes(message)) messages.push(message);
  } else if (Object.keys(errors).length < FAULTY_FIELDS_MAX) {
    Object.defineProperty(errors, path, { value: [message], enumerable: true, configurable: true, writable: true });
  }
}

/** The path of a member: `people[0]` and `card` give `people[0].card`. A long name is cut. */
export function memberPath(path: string, name: string): string {
  return joined(path, name.length > FIELD_NAME_SHOWN_MAX ? `${name.slice(0, FIELD_NAME_SHOWN_MAX)}…` : name);
}

export function elementPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

function joined(path: string, field: string): string {
  if (path === '' || field === '') return path + field || '$';
  return `${path}.${field}`;
}
