import type { Principal } from '../../access/principal.js';
import { maySeeSecrets } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import { validationFailed } from '../../kernel/errors.js';
import { memberPath } from '../../kernel/field-faults.js';
import type { Configuration } from './kind.js';

const HIDDEN = '••••';
/** For the descriptions of routes that show definitions. */
export const HIDDEN_NOTE =
  'Users who are READ_ONLY, or signed in more than 10 minutes ago, are shown dots in place of settings and keys; dots that a user sends back leave a setting as it is.';

/** Definitions as a caller may see them: with their settings and keys, or with dots in place of those. */
export async function withoutSecretsFor<T>(principal: Principal, answer: T | Promise<T>): Promise<T> {
  const value = await answer;
  return maySeeSecrets(principal) ? value : (hidden(value) as T); // Of the same shape: only texts are replaced.
}

/** In one definition, a plain list of them, or a page. */
function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hiddenMember(name, member)]));
}

function hiddenMember(name: string, member: unknown): unknown {
  if (name === 'data') return hidden(member);
  if (name === 'key' && typeof member === 'string') return HIDDEN;
  if (name !== 'configuration' || typeof member !== 'object' || member === null) return member;
  return Object.fromEntries(Object.keys(member).map((entry) => [entry, HIDDEN]));
}

/**
 * A user who was shown dots sends them back with what it changed: each stands for the setting that is stored. Where there is none it
 * is refused, so that no code is ever given dots for a secret. Keys of the API are never shown any, and say what they mean.
 */
export function withHiddenKept(
  { actor }: Pick<AuditContext, 'actor'>,
  before: Configuration,
  given: Configuration,
): Configuration {
  if (actor?.type !== 'user') return given;
  const missing = Object.keys(given).filter((key) => given[key] === HIDDEN && !Object.hasOwn(before, key));
  if (missing.length > 0) {
    const faults = missing.map((key) => [memberPath('configuration', key), ['hides no value here: write one']]);
    throw validationFailed(Object.fromEntries(faults));
  }
  const kept = Object.entries(given).map(([key, value]) => [key, value === HIDDEN ? before[key] : value]);
  return Object.fromEntries(kept);
}
