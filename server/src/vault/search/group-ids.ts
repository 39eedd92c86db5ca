import { uuidArray } from '../../storage/binary-array.js';

/** As long as the list lives: a remembered directory gives the same list to one request after another. */
const arrays = new WeakMap<readonly string[], Buffer>();

/** The ids of groups as a parameter. There may be ten thousand, and page and total both take them. */
export function groupIdArray(ids: readonly string[]): Buffer {
  const known = arrays.get(ids);
  if (known) return known;
  const array = uuidArray(ids);
  arrays.set(ids, array);
  return array;
}
