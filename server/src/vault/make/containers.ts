import type { Privacy } from '../stored/content.js';
import { CLASSIFICATIONS, IMPACT_LEVELS } from '../stored/content.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import type { TokenType } from '../types/names.js';

/** What a client said of the privacy of a token: undefined was left out, null is to go back to the default. */
export type GivenPrivacy = { readonly [Name in keyof Privacy]: Privacy[Name] | null | undefined };

/**
 * Settles what was left open. Containers follow the privacy that was given, privacy follows the first container that was
 * given as far as that names a classification and a level, and what neither says comes from the type.
 */
export function settleContainers(
  type: TokenType,
  containers: readonly string[] | undefined,
  given: GivenPrivacy | undefined,
): { readonly containers: readonly string[]; readonly privacy: Privacy } {
  const row = TOKEN_TYPE_CATALOGUE[type];
  if (containers === undefined && given === undefined) return { containers: [row.container], privacy: row.privacy };
  const [, first, second] = containers?.[0]?.split('/') ?? [];
  const privacy: Privacy = {
    classification: given?.classification ?? choiceOf(first, CLASSIFICATIONS) ?? row.privacy.classification,
    impact_level: given?.impact_level ?? choiceOf(second, IMPACT_LEVELS) ?? row.privacy.impact_level,
    restriction_policy: given?.restriction_policy ?? row.privacy.restriction_policy,
  };
  return { containers: containers ?? [containerOf(privacy)], privacy };
}

export function containerOf({ classification, impact_level: level }: Privacy): string {
  return `/${classification}/${level}/`;
}

/** The choice that a text names, if it names one. */
export function choiceOf<Choice extends string>(value: unknown, choices: readonly Choice[]): Choice | undefined {
  return choices.find((choice) => choice === value);
}
