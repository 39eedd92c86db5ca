import { digestId } from '../../crypto/digest-id.js';
import { isLowerCaseUuid } from '../../kernel/ids.js';

/** Decides between tokens of the same millisecond, in the order of their ids where those are UUIDs. */
export function tieOf(id: string): string {
  return isLowerCaseUuid(id) ? id : digestId(['token-tie', id]);
}

const REMEMBERED_MAX = 1_000;
const remembered = new Map<string, string>();

/**
 * The fixed-size name of a type together with a set of containers, whatever their order. Tenants use few of them and
 * every token asks, so the last ones are remembered; it is the same name for everybody, and no secret.
 */
export function groupIdOf(type: string, containers: readonly string[]): string {
  const words = `${type} ${containers.join(' ')}`;
  const known = remembered.get(words);
  if (known !== undefined) return known;
  const id = digestId(['token-group', type, ...new Set([...containers].sort())]);
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(words, id);
  return id;
}
