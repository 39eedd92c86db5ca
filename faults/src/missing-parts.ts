import { findPostgres, findProgram } from '@strongroom/parts/find.js';
import type { Part } from './scenario.js';

/** What is not on this machine; PostgreSQL itself never is missing, only the packaged one with its tools. */
export function missingParts(needs: readonly Part[]): Part[] {
  return needs.filter((part) => (part === 'postgresql' ? findPostgres() : findProgram(part)) === undefined);
}
