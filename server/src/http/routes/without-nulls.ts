interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape | readonly Shape[];
}

const UNKNOWN_MEMBERS_MAX = 20;

/**
 * In a body null means the same as absent, for the fields we know, also of the objects in a list we know; what a client
 * keeps with us is not touched. Of the members a closed object does not know, a few are enough to refuse it: naming all
 * of them could take half a second.
 */
export function withoutNulls(schema: Shape, value: unknown, keepsNulls: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { properties, items } = schema;
  if (Array.isArray(value)) {
    if (!isShape(items) || (items.properties ?? items.items) === undefined) return value;
    return value.map((member) => withoutNulls(items, member, keepsNulls));
  }
  if (properties === undefined) return value;
  const isClosed = schema.additionalProperties === false;
  const kept: [string, unknown][] = [];
  let unknown = 0;
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner === undefined) {
      unknown += 1;
      if (!isClosed || unknown <= UNKNOWN_MEMBERS_MAX) kept.push([name, member]);
    } else if (member !== null || keepsNulls) {
      kept.push([name, withoutNulls(inner, member, keepsNulls)]);
    }
  }
  return Object.fromEntries(kept);
}

/** Anything but the list of schemas a tuple has. */
function isShape(items: Shape['items']): items is Shape {
  return items !== undefined && !Array.isArray(items);
}
