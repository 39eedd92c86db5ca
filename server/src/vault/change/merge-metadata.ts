/** Entries a token may have. */
export const METADATA_ENTRIES_MAX = 50;

export type Metadata = Readonly<Record<string, string>>;

/** An entry with null is to be removed. */
export type MetadataPatch = Readonly<Record<string, string | null>>;

export const TOO_MANY_ENTRIES = `must have at most ${METADATA_ENTRIES_MAX} entries`;

/** Goes over a map, because a key may be called `__proto__`. */
export function mergeMetadata(metadata: Metadata, patch: MetadataPatch): Metadata {
  const merged = new Map(Object.entries(metadata));
  for (const [key, text] of Object.entries(patch)) {
    if (text === null) merged.delete(key);
    else merged.set(key, text);
  }
  return Object.fromEntries(merged);
}

export function isTooMuchMetadata(metadata: Metadata): boolean {
  return Object.keys(metadata).length > METADATA_ENTRIES_MAX;
}
