const NAME = /^[@A-Za-z0-9_][@A-Za-z0-9_./-]{0,199}$/;

/** Pairs of a name and the module it leads to. */
export function parseAliases(pairs: readonly string[]): Readonly<Record<string, string>> {
  const aliases = pairs.map((pair) => {
    const [name = '', module = '', ...more] = pair.split('=').map((part) => part.trim());
    if (!NAME.test(name) || !NAME.test(module) || more.length > 0) {
      throw new Error('must be pairs such as @acme/errors=strongroom-errors, with commas between them.');
    }
    return [name, module] as const;
  });
  return Object.fromEntries(aliases);
}
