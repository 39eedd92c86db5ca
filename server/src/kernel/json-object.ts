import type { Json } from './json.js';

export type JsonObject = { readonly [name: string]: Json };

/** For values that came out of the JSON parser: whatever is an object and no array there has JSON members only. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Array.isArray` would give the elements the type `any`. */
export function isJsonArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
