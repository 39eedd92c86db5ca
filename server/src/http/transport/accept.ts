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

/** Media types without their parameters, and without those that are refused by a weight of nothing. */
function typesIn(value: string): string[] {
  return value
    .split(',')
    .filter((range) => !WITHOUT_WEIGHT.test(range))
    .map((range) =>
      range
        .slice(0, range.includes(';') ? range.indexOf(';') : undefined)
        .trim()
        .toLowerCase(),
    );
}
