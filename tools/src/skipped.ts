import { NOT_INSTALLED } from '@strongroom/test-servers/find.js';
import type { TestResult } from './run-tests.js';
import type { TestFile } from './test-files.js';

export interface Skipped {
  /** Single tests, or suites, that say why they do not run here. */
  readonly tests: readonly TestResult[];
  /** Files that were not started, with the programs that are not installed. */
  readonly files: readonly { readonly file: TestFile; readonly missing: readonly string[] }[];
  /** Whether each is listed, or only their number and the reasons. */
  readonly lists: boolean;
}

/** One line that says how much was skipped and why; before it, where asked for, a line for each. Empty if nothing was. */
export function describeSkipped({ tests, files, lists }: Skipped): string {
  if (tests.length + files.length === 0) return '';
  const parts = [
    ...(files.length > 0 ? [`${files.length} test file${files.length === 1 ? '' : 's'}`] : []),
    ...(tests.length > 0 ? [`${tests.length} test${tests.length === 1 ? '' : 's'}`] : []),
  ];
  const reasons = [...new Set(tests.map(({ reason }) => reason))].sort();
  const programs = [
    ...files.flatMap(({ missing }) => missing),
    ...reasons
      .filter((reason) => reason.endsWith(NOT_INSTALLED))
      .map((reason) => reason.slice(0, -NOT_INSTALLED.length)),
  ];
  const why = [
    ...(programs.length > 0 ? [`${[...new Set(programs)].sort().join(', ')}${NOT_INSTALLED}`] : []),
    ...reasons.filter((reason) => !reason.endsWith(NOT_INSTALLED)),
  ];
  const line = `${parts.join(' and ')} skipped: ${why.join('; ')}\n`;
  if (!lists) return line.replace('\n', '; `npm run test:all` lists them\n');
  const list = [
    ...files.map(({ file, missing }) => `skipped ${file.source} (${missing.join(', ')}${NOT_INSTALLED})\n`),
    ...tests.map(({ file, name, reason }) => `skipped ${file}: ${name} (${reason})\n`),
  ];
  return `${list.join('')}${line}`;
}
