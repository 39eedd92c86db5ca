import { digestId } from '../../../crypto/digest-id.js';
import { isLowerCaseUuid } from '../../../kernel/ids.js';

/** Decides between tokens of the same millisecond, in the order of their ids where those are UUIDs. */
export function tieOf(id: string): string {
  return isLowerCaseUuid(id) ? id : digestId(['token-tie', id]);
}

/** The fixed-size name of a type together with a set of containers, whatever their order. */
export function groupIdOf(type: string, containers: readonly string[]): string {
  return digestId(['token-group', type, ...new Set([...containers].sort())]);
}
