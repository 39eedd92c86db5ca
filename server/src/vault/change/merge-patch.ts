import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';
import { setMember } from '../../kernel/json-walk.js';

/**
 * RFC 7386. Neither argument is changed. The outcome is nested no deeper than the deeper of the two, so what is stored
 * stays within the depth the parser lets in, which also bounds the recursion.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const before = isJsonObject(target) ? target : {};
  const merged: Record<string, Json> = {};
  for (const name of Object.keys(before)) {
    const value = Object.hasOwn(patch, name) ? patch[name] : undefined;
    if (value === undefined) setMember(merged, name, before[name] ?? null);
    else if (value !== null) setMember(merged, name, mergePatch(before[name], value));
  }
  for (const name of Object.keys(patch)) {
    const value = patch[name] ?? null;
    if (value !== null && !Object.hasOwn(before, name)) setMember(merged, name, mergePatch(undefined, value));
  }
  return merged;
}
