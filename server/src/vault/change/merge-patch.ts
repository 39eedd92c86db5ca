import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';

/**
 * RFC 7386. Neither argument is changed. The outcome is nested no deeper than the deeper of the two, so what is stored
 * stays within the depth the parser lets in, which also bounds the recursion. Goes over a map, because a member may be
 * called `__proto__`.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
