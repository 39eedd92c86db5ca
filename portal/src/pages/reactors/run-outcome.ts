import { ApiFault } from '../../api/fault.js';
import type { ReactorTest } from '../../api/generated.js';

export interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

/** What became of a test run. */
export type RunOutcome = {
  readonly console: readonly ConsoleLine[];
  readonly durationMs: number | undefined;
} & (
  | { readonly kind: 'returned'; readonly raw: unknown; readonly tokenize: unknown }
  | {
      readonly kind: 'failed';
      readonly status: number | undefined;
      readonly code: string;
      readonly detail: string;
      readonly errors: Readonly<Record<string, readonly string[]>>;
    }
  | { readonly kind: 'answered'; readonly status: number | undefined; readonly response: unknown }
);

/** Runs, and tells what the code did apart from what kept it from running, which is thrown. */
export async function runOutcome(run: () => Promise<ReactorTest | undefined>): Promise<RunOutcome> {
  try {
    const answer = await run();
    // An answer in the code's own words has its status, also one that means success, and may then have no body.
    if (answer === undefined) return { kind: 'answered', status: undefined, response: undefined, ...printed({}) };
    if ('response' in answer) return answeredFrom({ ...answer });
    return { kind: 'returned', raw: answer.raw, tokenize: answer.tokenize, ...printed({ ...answer }) };
  } catch (error) {
    if (!(error instanceof ApiFault) || !Array.isArray(error.body.console)) throw error;
    if ('response' in error.body) return answeredFrom(error.body);
    const { status, code, message, errors } = error;
    return { kind: 'failed', status, code, detail: message, errors, ...printed(error.body) };
  }
}

function answeredFrom(body: Readonly<Record<string, unknown>>): RunOutcome {
  const { status } = body;
  return {
    kind: 'answered',
    status: typeof status === 'number' ? status : undefined,
    response: body.response,
    ...printed(body),
  };
}

function printed(body: Readonly<Record<string, unknown>>) {
  const { console: lines, duration_ms: durationMs } = body;
  return {
    console: Array.isArray(lines) ? (lines as readonly ConsoleLine[]) : [], // As the document of the call says.
    durationMs: typeof durationMs === 'number' ? durationMs : undefined,
  };
}
