import { existsSync } from 'node:fs';
import { findEngine } from '@strongroom/engine/paths.js';
import { findBrowser, findPostgres, findProgram } from '@strongroom/test-servers/find.js';

/**
 * Names that a `// needs:` line may hold, with how to find each. Three are always there: `processes` marks tests that start the
 * product or other programs of this repository, `time` those that take about four seconds of processor time or ten seconds of
 * waiting, and `account` those whose result depends on who runs them. Where that is root, they run a second time as an ordinary user.
 */
const FINDERS = new Map<string, () => unknown>([
  ['processes', () => true],
  ['time', () => true],
  ['account', () => true],
  ['engine', findEngine],
  ['chromium', findBrowser],
  ['PostgreSQL packages', findPostgres],
  ['PostgreSQL 15', () => existsSync('/usr/lib/postgresql/15/bin/postgres') || undefined],
  ...['curl', 'pgbouncer', 'python3', 'redis-server'].map((name) => [name, () => findProgram(name)] as const),
]);

/** The names among these whose program is not installed. Throws for a name that is not in the table. */
export function missingPrograms(names: readonly string[]): string[] {
  return names.filter((name) => {
    const find = FINDERS.get(name);
    if (find === undefined)
      throw new Error(`no program is named ${name}; there are: ${[...FINDERS.keys()].join(', ')}`);
    return find() === undefined;
  });
}
