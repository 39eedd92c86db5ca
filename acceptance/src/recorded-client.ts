/** Names of calls as a user writes them: `tenants.self.get`. */
export type Calls = Set<string>;

/** The same client; each of its calls is noted once it has succeeded. */
export function recorded<T extends object>(client: T, calls: Calls, prefix = ''): T {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof name !== 'string') return value;
      const path = prefix + name;
      if (typeof value === 'function') {
        return async (...args: unknown[]): Promise<unknown> => {
          const result: unknown = await Reflect.apply(value, target, args);
          calls.add(path);
          return result;
        };
      }
      return typeof value === 'object' && value !== null ? recorded(value, calls, `${path}.`) : value;
    },
  });
}

/**
 * Every call a client has, its resources walked through. A resource named in `closed` counts as one call and is not
 * looked into.
 */
export function callsOf(client: object, closed: readonly string[], prefix = ''): string[] {
  const found = new Set<string>();
  for (const [name, descriptor] of inherited(client)) {
    const path = prefix + name;
    if (name === 'constructor' || name.startsWith('_')) continue;
    if (descriptor.get === undefined || closed.includes(path)) {
      found.add(path);
      continue;
    }
    const resource: unknown = Reflect.get(client, name);
    if (typeof resource !== 'object' || resource === null) throw new Error(`${path} is no resource`);
    for (const call of callsOf(resource, closed, `${path}.`)) found.add(call);
  }
  return [...found].sort();
}

function* inherited(client: object): Generator<[string, PropertyDescriptor]> {
  for (
    let prototype: unknown = Object.getPrototypeOf(client);
    typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    yield* Object.entries(Object.getOwnPropertyDescriptors(prototype));
  }
}
