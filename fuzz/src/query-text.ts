import type { Random } from './random.js';
import type { Shelf, Shelved } from './shelf.js';

/** A search text together with what it means. */
export interface Meant {
  readonly text: string;
  readonly isMatch: (token: Shelved) => boolean;
}

const DEPTH_MAX = 5;
const WORD = /^[A-Za-z0-9_/-]+$/;

/** A text by the grammar, about values that are there and values that are not. */
export function queryOn(random: Random, shelf: Shelf, depth = 0): Meant {
  if (depth >= DEPTH_MAX || random.oneIn(2)) return termOn(random, shelf);
  const [left, right] = [queryOn(random, shelf, depth + 1), queryOn(random, shelf, depth + 1)];
  const wrapped = (meant: Meant): string => `(${space(random)}${meant.text}${space(random)})`;
  switch (random.below(3)) {
    case 0:
      return {
        text: `${wrapped(left)} AND ${wrapped(right)}`,
        isMatch: (token) => left.isMatch(token) && right.isMatch(token),
      };
    case 1:
      return {
        text: `${wrapped(left)} OR ${wrapped(right)}`,
        isMatch: (token) => left.isMatch(token) || right.isMatch(token),
      };
    default:
      return { text: `${random.pick(['NOT ', '!', '-'])}${wrapped(left)}`, isMatch: (token) => !left.isMatch(token) };
  }
}

function space(random: Random): string {
  return random.pick(['', '', ' ', '\t', '\n']);
}

function termOn(random: Random, { shelved }: Shelf): Meant {
  const one = random.pick(shelved);
  const [key, value] = random.pick([...Object.entries(one.metadata), ['absent', 'v']] as [string, string][]);
  const swapped = random.oneIn(2) ? value : value.toUpperCase();
  const kinds: readonly (() => Meant)[] = [
    () => ({ text: `id:${written(random, one.id)}`, isMatch: ({ id }) => id === one.id }),
    () => ({ text: `type:${written(random, one.type)}`, isMatch: ({ type }) => type === one.type }),
    () => ({
      text: `container:${written(random, one.container)}`,
      isMatch: ({ container }) => container === one.container,
    }),
    () => ({ text: 'container:/shelf/*', isMatch: ({ container }) => container.startsWith('/shelf/') }),
    () => ({
      text: `metadata.${escaped(key)}:${written(random, swapped)}`,
      isMatch: ({ metadata }) =>
        Object.entries(metadata).some(([name, each]) => name === key && each.toLowerCase() === value.toLowerCase()),
    }),
    () => ({
      text: `data:${written(random, one.indexed ?? 'nothing has this')}`,
      isMatch: ({ indexed }) => indexed !== undefined && indexed === one.indexed,
    }),
    () => ({ text: `created_at:${random.pick(SPANS_PAST)}`, isMatch: () => false }),
    () => ({ text: `created_at:${random.pick(SPANS_ALL)}`, isMatch: () => true }),
    () => ({ text: 'modified_at:[* TO *]', isMatch: () => false }),
    () => ({ text: `created_by:${written(random, 'nobody')}`, isMatch: () => false }),
    () => ({ text: `fingerprint:${written(random, '%_\\')}`, isMatch: () => false }),
  ];
  return random.pick(kinds)();
}

const SPANS_PAST = [
  '2001-01-01',
  '[0001-01-01 TO 2001-01-01]',
  '{2001-W01-1 TO 2002-001}',
  '"2001-01-01T00:00:00.123Z"',
];
const SPANS_ALL = ['[* TO *]', '{* TO *}', '[2020-01-01 TO *}', '[2020-01-01T00:00:00+14:00 TO 9999-12-31]'];

/** Quoted, or bare with escapes where that is possible. */
function written(random: Random, value: string): string {
  if (WORD.test(value) && random.oneIn(2)) return value;
  if (value !== '' && random.oneIn(3)) return escaped(value);
  return `"${value.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"`;
}

/** Every character that could mean something behind a backslash. */
function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/gu, (each) => [...each].map((unit) => `\\${unit}`).join(''));
}
