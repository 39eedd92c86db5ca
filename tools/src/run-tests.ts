import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { report } from './checks.js';
import type { TestFile } from './test-files.js';

/** A hang is cut off after this time. It is no measure of speed: slow machines take minutes for one file. */
const HANG_MS = 600_000;
const GUARD = new URL('./no-programs.js', import.meta.url).href;
const LEFT_OPEN = new URL('./left-open.js', import.meta.url).href;

export interface TestResult {
  /** Source path of the test file. */
  readonly file: string;
  /** Titles of the suites around the test and its own, joined. */
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  readonly reason: string;
}

export interface TestRun {
  readonly results: readonly TestResult[];
  readonly secondsByFile: ReadonlyMap<string, number>;
}

interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: { readonly type?: string; readonly duration_ms: number; readonly error?: unknown };
}

export interface RunOptions {
  /** Where the files that load the groups are written. */
  readonly folder: string;
  /** Groups that run at a time. */
  readonly concurrency: number;
}

/** Runs each group of test files in a process of its own, and reports failures as they come. */
export async function runTests(groups: readonly (readonly TestFile[])[], options: RunOptions): Promise<TestRun> {
  await mkdir(options.folder, { recursive: true });
  const entries = await Promise.all(groups.map((group, number) => writeEntry(options.folder, group, number)));
  const collector = new ResultCollector(new Map(entries.map((entry, index) => [entry, groups[index] ?? []])));
  const stream = run({ files: entries, concurrency: options.concurrency, timeout: HANG_MS });
  stream.on('test:pass', (event: TestEvent) => collector.add(event, true));
  stream.on('test:fail', (event: TestEvent) => collector.add(event, false));
  stream.on('test:stderr', ({ message }: { message: string }) => process.stdout.write(message));
  await new Promise((done, fail) => {
    stream.once('error', fail);
    stream.once('end', done);
    stream.resume();
  });
  collector.failSilent();
  return collector;
}

/** Writes the file that loads a group: a suite for each test file, so that its hooks and its name stay its own. */
async function writeEntry(folder: string, group: readonly TestFile[], number: number): Promise<string> {
  const path = join(folder, `group-${number}.mjs`);
  const suites = group.map(({ source, compiled }) => {
    const address = JSON.stringify(pathToFileURL(resolve(compiled)).href);
    return `describe('${source}', { timeout: ${HANG_MS} }, async () => { await import(${address}); });\n`;
  });
  const guard = group.every(({ needs }) => needs.length === 0) ? `import ${JSON.stringify(GUARD)};\n` : '';
  await writeFile(
    path,
    `${guard}import ${JSON.stringify(LEFT_OPEN)};\nimport { describe } from 'node:test';\n${suites.join('')}`,
  );
  return path;
}

/** Counts tests, not suites. Node tells of the tests in a suite before it tells of the suite. */
class ResultCollector implements TestRun {
  readonly results: TestResult[] = [];
  readonly secondsByFile = new Map<string, number>();
  readonly #groups: ReadonlyMap<string, readonly TestFile[]>;
  /** Files whose suite has ended. */
  readonly #told = new Set<string>();
  /** Groups whose process failed: that is told of all their files. */
  readonly #failed = new Set<string>();
  /** Results whose enclosing suites are still unknown, with the depth they were told at. */
  #open: { depth: number; names: string[]; outcome: TestResult['outcome']; reason: string; error: unknown }[] = [];

  constructor(groups: ReadonlyMap<string, readonly TestFile[]>) {
    this.#groups = groups;
  }

  add({ name, nesting, skip, todo, details }: TestEvent, isPassed: boolean): void {
    for (const result of this.#open) {
      if (result.depth !== nesting + 1) continue;
      result.depth = nesting;
      result.names.unshift(name);
    }
    const reason = skip ?? todo;
    const isSuite = details.type === 'suite';
    // Counts a suite only if it fails by itself or is skipped: its tests are counted already, or are never reported.
    if (!isSuite || (isPassed ? reason !== undefined : !isSubtestFailure(details.error))) {
      const outcome = reason !== undefined ? 'skipped' : isPassed ? 'passed' : 'failed';
      this.#open.push({ depth: nesting, names: [name], outcome, reason: String(reason ?? ''), error: details.error });
    }
    if (nesting > 0) return;
    const group = this.#groups.get(name);
    this.#told.add(name);
    if (group === undefined) this.#close(name, details.duration_ms);
    // The process itself ended without a failure: it is counted by the files that it did not run.
    else if (isPassed) this.#open = [];
    // The process itself failed: it was ended, or something went wrong outside of any test.
    else this.#closeGroup(name, group, details.duration_ms);
  }

  #closeGroup(entry: string, group: readonly TestFile[], durationMs: number): void {
    this.#failed.add(entry);
    this.#close(group.map(({ source }) => source).join(' '), durationMs, 'the process of this group');
  }

  /** Fails the files that told nothing, because their process ended before, and with success. */
  failSilent(): void {
    for (const [entry, group] of this.#groups) {
      if (this.#failed.has(entry)) continue;
      for (const { source } of group) {
        if (this.#told.has(source)) continue;
        const error = new Error('its process ended before the tests of this file had');
        this.#open.push({ depth: 0, names: [source], outcome: 'failed', reason: '', error });
        this.#close(source, 0);
      }
    }
  }

  #close(file: string, durationMs: number, title = 'the file itself'): void {
    this.secondsByFile.set(file, (this.secondsByFile.get(file) ?? 0) + durationMs / 1_000);
    for (const { names, outcome, reason, error } of this.#open) {
      const name = names.slice(1).join(' > ') || title;
      this.results.push({ file, name, outcome, reason });
      if (outcome !== 'failed') continue;
      report('FAIL', `${file}: ${name}`);
      process.stdout.write(`${describeError(error)}\n       run it again: npm test -- ${file}\n`);
    }
    this.#open = [];
  }
}

function isSubtestFailure(error: unknown): boolean {
  return (error as { failureType?: unknown } | undefined)?.failureType === 'subtestsFailed';
}

function describeError(error: unknown): string {
  const cause = (error as { cause?: unknown } | undefined)?.cause ?? error;
  return textOf(cause).replace(/^/gm, '       ');
}

/** Includes causes: a failed property names its input, and only its cause says what went wrong. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\ncaused by ${textOf(error.cause)}`;
}
