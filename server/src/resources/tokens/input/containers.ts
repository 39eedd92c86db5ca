import { CONTAINER_LENGTH_MAX, CONTAINER_PATTERN } from '../../../access/check-rules.js';
import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, elementPath } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonArray } from '../../../kernel/json-object.js';
import { codePointLength } from '../../../kernel/text.js';

export const CONTAINERS_MAX = 10;

/** What is wrong with the path of a container; undefined for a good one. */
export function containerFault(text: string): string | undefined {
  if (codePointLength(text) > CONTAINER_LENGTH_MAX) return `must be at most ${CONTAINER_LENGTH_MAX} characters long`;
  if (CONTAINER_PATTERN.test(text)) return undefined;
  return 'must begin and end with /, with letters, digits, _ and - in between, such as /pci/high/';
}

/**
 * Lower case, each once, in the order given. An empty list is refused: access is granted by container, and a token
 * that lies in none would be covered by every demand that all of its containers are.
 */
export function readContainers(value: Json, faults: Faults): readonly string[] {
  if (!isJsonArray(value)) return refuse(faults, 'must be an array');
  if (value.length === 0) return refuse(faults, 'must not be empty; leave it out for the default');
  if (value.length > CONTAINERS_MAX) return refuse(faults, `must have at most ${CONTAINERS_MAX} entries`);
  const containers: string[] = [];
  for (const [index, item] of value.entries()) {
    const container = typeof item === 'string' ? item : undefined;
    const message = container === undefined ? 'must be a string' : containerFault(container);
    if (message !== undefined) addFault(faults, elementPath('containers', index), message);
    else if (container !== undefined) containers.push(container.toLowerCase());
  }
  return [...new Set(containers)];
}

function refuse(faults: Faults, message: string): readonly string[] {
  addFault(faults, 'containers', message);
  return [];
}
