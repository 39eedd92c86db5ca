import type { EndSignal } from '../kernel/end-signal.js';

/** The words in which the sandbox is asked and answers. */

/** Code of a tenant, and as whom it runs. Two with the same key have the same code. */
export interface CodeVersion {
  readonly tenantId: string;
  /** What the code belongs to. */
  readonly ownerId: string;
  /** Different for every change of the code, and of whatever else is loaded with it. */
  readonly version: string;
  readonly code: string;
  /** The Application whose client the code gets; undefined: none. */
  readonly applicationId: string | undefined;
}

export interface RunInput {
  readonly args: unknown;
  readonly configuration: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly attempt: number;
  /** Whether what the code prints is wanted. */
  readonly keepsConsole: boolean;
  /** Comes back with the requests of the code, whatever it is. */
  readonly origin: RunOrigin;
}

/** Whose request the run is for, as a log knows it. */
export interface RunOrigin {
  readonly traceId: string | undefined;
  readonly sourceAddress: string | undefined;
}

/** How long a run may take, and whether anybody still wants it. */
export interface RunBounds {
  readonly deadlineMs: number;
  /** Ends the run, and its process with it. */
  readonly signal?: EndSignal | undefined;
  /** The code will not be run again: its process ends with it. */
  readonly isOnce?: boolean;
}

export interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

interface Printed {
  readonly console: readonly ConsoleLine[];
}

/** What the code did. */
export type CodeOutcome = Printed &
  (
    | { readonly outcome: 'returned'; readonly value: unknown }
    | {
        readonly outcome: 'thrown';
        /** The class of `strongroom-errors`, as the code claims. */
        readonly kind: string | undefined;
        readonly errors: Readonly<Record<string, readonly string[]>>;
        /** Of a CustomHttpResponseError, unchecked. */
        readonly response: unknown;
      }
    /** It does not compile, exports no function, or requires a module that is not there. */
    | { readonly outcome: 'invalid'; readonly message: string }
  );

/** What became of the run; the last four ended the process. */
export type RunOutcome = CodeOutcome | { readonly outcome: 'timeout' | 'too_large' | 'ended' | 'aborted' };

/** What came out of the sandbox, and what it took. */
export interface Run {
  readonly outcome: RunOutcome;
  /** The code had to be loaded first. */
  readonly isCold: boolean;
}

/** A request of tenant code. Everything in it is the tenant's word. */
export interface EngineRequest {
  /** A server outside, or Strongroom's own API. */
  readonly to: 'outside' | 'api';
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export interface EngineAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** No answer: what the code's fetch fails with. */
  readonly failure?: string;
  /** Called once the engine has it, or never will. */
  readonly release?: () => void;
}

/** Answers for the code of one tenant. What it throws becomes a failure without a reason. */
export type AnswerEngine = (
  by: { readonly code: CodeVersion; readonly origin: RunOrigin },
  request: EngineRequest,
  signal: AbortSignal,
) => Promise<EngineAnswer>;
