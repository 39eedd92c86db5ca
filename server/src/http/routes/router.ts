import { AppError } from '../../kernel/errors.js';
import { hasForbiddenCharacters } from '../../kernel/text.js';
import type { Params } from './route.js';

/** What a path leads to: its methods with what each of them does, and the values of its parameters. */
export interface Match<T> {
  readonly byMethod: ReadonlyMap<string, T>;
  readonly params: Params;
}

export type Router<T> = (pathname: string) => Match<T> | undefined;

interface Pattern<T> {
  readonly segments: readonly string[];
  /** Names of parameters by the place of their segment; undefined where a segment is fixed. */
  readonly names: readonly (string | undefined)[];
  /** Ends in the rest of the path. */
  readonly isOpen: boolean;
  readonly byMethod: Map<string, T>;
}

const NO_PARAMS: Params = Object.freeze({});

const WILDCARD = '*';

/**
 * Finds routes by path: `/tokens/:id` matches one segment for each name, `/files/*` what is below `/files` and that itself, as
 * the parameter `*`: the rest of the path as it was sent. Paths are case-sensitive, one trailing slash changes nothing but that
 * rest, and segments are percent-decoded once, after the split, so an encoded slash stays inside its segment.
 * In each place a fixed segment goes before a parameter and a parameter before the rest, in whatever order the routes come. The
 * path alone decides: a method that the best match does not take is refused and not looked for behind it.
 */
export function createRouter<T>(
  routes: readonly { readonly method: string; readonly path: string; readonly target: T }[],
): Router<T> {
  const fixed = new Map<string, Match<T>>();
  const patterns: Pattern<T>[] = [];
  for (const { method, path, target } of routes) methodsOf(path).set(method, target);
  patterns.sort((a, b) => compareText(rankOf(a.segments), rankOf(b.segments)));
  // So that a request looks at the few patterns of its resource, however many resources there are.
  const byFirst = new Map<string, readonly Pattern<T>[]>();
  const others = patterns.filter(({ segments: [first = ''] }) => isVariable(first));
  for (const { segments } of patterns) {
    const [first = ''] = segments;
    if (isVariable(first) || byFirst.has(first)) continue;
    byFirst.set(first, [...patterns.filter((pattern) => pattern.segments[0] === first), ...others]);
  }

  function methodsOf(path: string): Map<string, T> {
    const segments = path.split('/').slice(1);
    const known = patterns.find((pattern) => pattern.segments.join('/') === segments.join('/'));
    if (known) return known.byMethod;
    const byMethod = new Map<string, T>();
    patterns.push(patternOf(segments, byMethod));
    if (!path.includes(':') && !path.includes(WILDCARD)) {
      const match = { byMethod, params: NO_PARAMS };
      fixed.set(path, match);
      if (path !== '/') fixed.set(`${path}/`, match);
    }
    return byMethod;
  }

  return (pathname) => {
    const direct = fixed.get(pathname);
    if (direct) return direct;
    const segments = segmentsOf(pathname);
    // No id holds such a character, so nothing can be there. Only an encoded one gets here: the parser takes no other.
    if (pathname.includes('%') && segments.some(hasForbiddenCharacters)) return undefined;
    for (const pattern of byFirst.get(segments[0] ?? '') ?? others) {
      if (isMatch(pattern, segments))
        return { byMethod: pattern.byMethod, params: paramsOf(pattern, segments, pathname) };
    }
    return undefined;
  };
}

function patternOf<T>(segments: readonly string[], byMethod: Map<string, T>): Pattern<T> {
  const isOpen = segments.at(-1) === WILDCARD;
  const named = isOpen ? segments.slice(0, -1) : segments;
  const names = named.map((segment) => (segment.startsWith(':') ? segment.slice(1) : undefined));
  return { segments, names, isOpen, byMethod };
}

function isVariable(segment: string): boolean {
  return segment === WILDCARD || segment.startsWith(':');
}

/** Sorts a fixed segment before a parameter, and that before the rest of a path. */
function rankOf(segments: readonly string[]): string {
  return segments.map((segment) => (segment === WILDCARD ? '2' : segment.startsWith(':') ? '1' : '0')).join('');
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function segmentsOf(pathname: string): string[] {
  const segments = pathname.split('/').slice(1);
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  if (!pathname.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    const detail = 'The path has broken percent-encoding. Encode each byte as % and two hex digits.';
    throw new AppError('malformed_request', detail);
  }
}

function isMatch({ segments: expected, names, isOpen }: Pattern<unknown>, segments: readonly string[]): boolean {
  if (isOpen ? segments.length < names.length : segments.length !== names.length) return false;
  return names.every((name, at) => (name === undefined ? expected[at] === segments[at] : segments[at] !== ''));
}

function paramsOf({ names, isOpen }: Pattern<unknown>, segments: readonly string[], pathname: string): Params {
  const params: Record<string, string> = {};
  for (const [at, name] of names.entries()) if (name !== undefined) params[name] = segments[at] ?? '';
  if (isOpen) params[WILDCARD] = restOf(pathname, names.length);
  return params;
}

/** What comes behind so many segments, as it was sent: empty, or from its slash on. */
function restOf(pathname: string, segments: number): string {
  let at = 0;
  for (let count = 0; count < segments && at !== -1; count += 1) at = pathname.indexOf('/', at + 1);
  return at === -1 ? '' : pathname.slice(at);
}
