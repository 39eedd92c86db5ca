import { relative } from 'node:path';
import { run } from 'node:test';
import type { Tally } from './checks.js';
import { report } from './checks.js';

/** Bounds a hang, not the speed of a machine that others use too. */
const FILE_MAX_MS = 1_200_000;

interface TestEvent {
  readonly name: string;
  readonly file?: string;
  readonly nesting?: number;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: { readonly type?: string; readonly duration_ms: number; readonly error?: unknown };
}

/** Runs test files, each in a process of its own, and counts single tests: suites are only headings. */
export function runNodeTests(files: readonly string[], concurrency: number): Promise<Tally> {
  const secondsByFile = new Map<string, number>();
  const tally: Tally = { passed: 0, failed: 0, notRun: [], secondsByFile };
  const time = ({ file, nesting, details }: TestEvent): void => {
    if (file === undefined || nesting !== 0) return;
    secondsByFile.set(file, (secondsByFile.get(file) ?? 0) + details.duration_ms / 1_000);
  };
  const placeOf = (event: TestEvent): string => (event.file === undefined ? '' : `${relative('.', event.file)}: `);
  return new Promise((resolve, reject) => {
    const stream = run({ files: [...files], concurrency, timeout: FILE_MAX_MS });
    stream.on('test:pass', (event: TestEvent) => {
      time(event);
      // What a suite that is left out holds is not told, so that it stands for all of it.
      if (event.details.type === 'suite' && event.skip === undefined) return;
      if (event.skip !== undefined || event.todo !== undefined) {
        const reason = String(event.skip ?? event.todo);
        tally.notRun.push({ file: event.file ?? '', name: event.name, reason });
      } else {
        tally.passed += 1;
      }
    });
    stream.on('test:fail', (event: TestEvent) => {
      time(event);
      // A suite fails because a test in it failed, which is counted; a failing hook is counted through its tests.
      if (event.details.type === 'suite' && isSubtestFailure(event.details.error)) return;
      tally.failed += 1;
      report('FAIL', `${placeOf(event)}${event.name}`);
      process.stdout.write(`${describe(event.details.error)}\n`);
    });
    stream.on('test:stderr', ({ message }: { message: string }) => process.stdout.write(message));
    stream.once('error', reject);
    stream.once('end', () => resolve(tally));
    stream.resume();
  });
}

function isSubtestFailure(error: unknown): boolean {
  return (error as { failureType?: unknown } | undefined)?.failureType === 'subtestsFailed';
}

function describe(error: unknown): string {
  const cause = (error as { cause?: unknown } | undefined)?.cause ?? error;
  return textOf(cause).replace(/^/gm, '       ');
}

/** With what caused it: a property that failed says what it was given, and only its cause says what went wrong. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\ncaused by ${textOf(error.cause)}`;
}
