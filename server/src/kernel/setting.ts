/** A setting as its room declares it. `config.ts` gathers the declarations of all rooms and reads the environment. */
export interface Setting<T> {
  readonly name: string;
  readonly kind: SettingKind<T>;
  /** As the operator would write it; undefined where there is none, and then the value may be undefined too. */
  readonly default: string | undefined;
  /** What it does, in Markdown, for the reference page. */
  readonly about: string;
  readonly isSecret?: true;
}

/** What values a setting takes, and how their text is read. */
export interface SettingKind<T> {
  /** In Markdown, for the reference page. */
  readonly values: string;
  /** Throws a sentence that says what a good value looks like, never the value. */
  readonly parse: (text: string) => T;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

export type ValueOf<S> = S extends { readonly kind: SettingKind<infer T>; readonly default: infer D }
  ? D extends string
    ? T
    : T | undefined
  : never;

/** A folder or a file. */
export const PATH: SettingKind<string> = { values: 'path', parse: (text) => text };

export function oneOf<const T extends string>(words: readonly T[]): SettingKind<T> {
  return {
    values: words.map((word) => `\`${word}\``).join(', '),
    parse(text) {
      const word = words.find((candidate) => candidate === text);
      if (word === undefined) throw new Error(`must be one of ${words.join(', ')}.`);
      return word;
    },
  };
}

export function integerBetween(min: number, max: number): SettingKind<number> {
  return {
    values: `${min} to ${max}`,
    parse(text) {
      const value = Number(text);
      if (!/^\d+$/.test(text) || value < min || value > max)
        throw new Error(`must be a whole number from ${min} to ${max}.`);
      return value;
    },
  };
}

export const PORT: SettingKind<number> = integerBetween(0, 65_535);

/** The parts of a text with commas between them. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
