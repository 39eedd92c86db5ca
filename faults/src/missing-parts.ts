import { findCitus } from '@strongroom/test-servers/citus.js';
import { findPostgres, findProgram } from '@strongroom/test-servers/find.js';
import { whyNoDisk } from './disk.js';
import type { Part } from './scenario.js';

/** What is not on this machine; PostgreSQL itself never is missing, only the packaged one with its tools. */
export function missingParts(needs: readonly Part[]): string[] {
  return needs.map(missing).filter((part) => part !== undefined);
}

function missing(part: Part): string | undefined {
  if (part === 'a file system of its own') {
    const reason = whyNoDisk();
    return reason && `${part} (${reason})`;
  }
  if (part === 'citus') return findCitus() === undefined ? part : undefined;
  return (part === 'postgresql' ? findPostgres() : findProgram(part)) === undefined ? part : undefined;
}

/** Nothing that could be installed, or in no package: where it is missing, nobody can be asked for it. */
export function isImpossible(needs: readonly Part[]): boolean {
  return missingParts(needs.filter((part) => part === 'citus' || part === 'a file system of its own')).length > 0;
}
