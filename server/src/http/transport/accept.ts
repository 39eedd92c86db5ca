const PLAIN = 'application/json';
const PROBLEM = 'application/problem+json';
const WITHOUT_WEIGHT = /;\s*q=0(\.0*)?\s*(;|$)/i;

/**
 * Whether a client reads plain JSON and says so alone: generated clients often look for no other type, not even in a refusal.
 * Whoever takes anything, or names the type of problems, gets that.
 */
export function readsPlainJsonAlone(rawHeaders: readonly string[]): boolean {
  const types: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 6 && name.toLowerCase() === 'accept') types.push(...typesIn(rawHeaders[at + 1] ?? ''));
  }
  return types.includes(PLAIN) && !types.some((type) => type === PROBLEM || type.endsWith('*'));
}

/** Whether a client would rather have a page than JSON. A page is asked for by its name: programs take anything. */
export function prefersPage(accept: string): boolean {
  const weights = new Map(accept.split(',').map((range) => [typeOf(range), weightOf(range)]));
  const page = weights.get('text/html') ?? 0;
  return page > 0 && page >= (weights.get(PLAIN) ?? 0);
}

function weightOf(range: string): number {
  return Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1);
}

function typeOf(range: string): string {
  return range
    .slice(0, range.includes(';') ? range.indexOf(';') : undefined)
    .trim()
    .toLowerCase();
}

/** Media types without their parameters, and without those that are refused by a weight of nothing. */
function typesIn(value: string): string[] {
  return value
    .split(',')
    .filter((range) => !WITHOUT_WEIGHT.test(range))
    .map(typeOf);
}
