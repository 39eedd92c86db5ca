export interface ConfigurationEntry {
  /** Stays the same while the name is being typed. */
  readonly key: string;
  readonly name: string;
  readonly value: string;
  readonly isNew: boolean;
}

type Configuration = Readonly<Record<string, string>>;

export const CONFIGURATION_ENTRIES_MAX = 25;

export function entriesOf(configuration: Configuration): readonly ConfigurationEntry[] {
  return Object.entries(configuration).map(([name, value]) => ({ key: `stored ${name}`, name, value, isNew: false }));
}

export function configurationOf(entries: readonly ConfigurationEntry[]): Configuration {
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}

/** What changed, as a merge patch: the others are not sent at all. Undefined where nothing did. */
export function configurationPatch(
  stored: Configuration,
  entries: readonly ConfigurationEntry[],
): Readonly<Record<string, string | null>> | undefined {
  const wanted = configurationOf(entries);
  const changed = Object.entries(wanted).filter(([name, value]) => stored[name] !== value);
  const gone = Object.keys(stored).filter((name) => !Object.hasOwn(wanted, name));
  if (changed.length + gone.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]);
}

/** The names that stand there twice: one of the values would be lost. */
export function repeatedName(entries: readonly ConfigurationEntry[]): string | undefined {
  const names = entries.map(({ name }) => name);
  return names.find((name, at) => names.indexOf(name) !== at);
}
