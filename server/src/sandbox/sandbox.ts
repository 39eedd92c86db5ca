import type { Clock } from '../kernel/clock.js';
import { EngineInstance } from './engine/instance.js';
import { prepareRun } from './engine/prepared-run.js';
import { makeMeasuredWall } from './measured-wall.js';
import type { PoolFigures } from './pool/pool.js';
import { Pool } from './pool/pool.js';
import type { AnswerEngine, CodeVersion, Run, RunBounds, RunInput } from './run.js';
import { NoWallError } from './wall/no-wall-error.js';
import type { MakeWallOptions, Wall } from './wall/wall.js';

export interface SandboxOptions {
  readonly instancesMax: number;
  readonly instancesPerTenantMax: number;
  readonly blanks: number;
  /** Names of modules that lead to others. */
  readonly aliases: Readonly<Record<string, string>>;
  /** The names code finds its client under. */
  readonly clientNames: readonly string[];
  readonly wall?: MakeWallOptions;
  readonly clock: Clock;
  /** Answers requests of code. The sandbox itself reaches nothing. */
  readonly answer: AnswerEngine;
  /** An instance could not be started, or its wall was not whole. */
  readonly onFault: (error: unknown) => void;
}

/** Whether code can be run, and how or why not. */
export type SandboxState =
  | { readonly isAvailable: true; readonly mode: string; readonly landlock: number }
  | { readonly isAvailable: false; readonly reason: string };

/** In the words of the manual. */
export function describeWall({ mode, landlock }: Extract<SandboxState, { readonly isAvailable: true }>): string {
  return landlock === 0 ? mode : `${mode}, landlock ${landlock}`;
}

/**
 * Runs code of tenants, each version in a process of its own behind a wall. It knows nothing of tokens, routes or rights: as
 * whom the code runs is a name that comes back with its requests.
 */
export interface Sandbox {
  /**
   * Asks for the input once there is a process for it, and throws what that throws.
   * Throws `InputTooLargeError` for more than code may be given, `PoolFullError` where every instance stays in use, `StartError` where none can be started, `SandboxUnavailable` where
   * there can be no wall. Whatever the code does is an outcome.
   */
  run(code: CodeVersion, input: () => Promise<RunInput>, bounds: RunBounds): Promise<Run>;
  state(): SandboxState;
  figures(): PoolFigures;
  close(): Promise<void>;
}

export class SandboxUnavailable extends Error {}

const WAIT_MS = 10_000;
/** Far fewer than requests may be in flight, so that one tenant's calls never keep all others out. */
const WAITING_MAX = 64;
const WAITING_PER_TENANT_MAX = 32;
const IDLE_MS = 300_000;
const CALLS_MAX = 10_000;

/** Tries what wall can be made. Where there is none, the sandbox says why and runs nothing. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  try {
    const wall = await makeMeasuredWall(options);
    return createSandbox(options, wall);
  } catch (error) {
    if (error instanceof NoWallError) return noSandbox(error.message);
    options.onFault(error);
    return noSandbox('the wall could not be made; the log says why');
  }
}

function createSandbox(options: SandboxOptions, wall: Wall): Sandbox {
  const { instancesMax, instancesPerTenantMax, blanks, onFault, clock } = options;
  const pool = new Pool({
    ...{ instancesMax, instancesPerTenantMax, blanks, onFault, clock },
    ...{ waitMs: WAIT_MS, waitingMax: WAITING_MAX, waitingPerTenantMax: WAITING_PER_TENANT_MAX },
    ...{ idleMs: IDLE_MS, callsMax: CALLS_MAX },
    async startInstance() {
      const instance = new EngineInstance(wall, options.clock);
      await instance.start();
      return instance;
    },
    load: (instance, code) => instance.load(code, options),
  });
  pool.fill();
  return {
    run: async (code, input, bounds) => {
      const clientNames = code.applicationId === undefined ? [] : options.clientNames;
      return pool.run(code, async () => prepareRun(await input(), clientNames), bounds);
    },
    state: () => ({ isAvailable: true, ...wall.abilities }),
    figures: () => pool.figures(),
    async close() {
      await pool.close();
      await wall.remove();
    },
  };
}

export const NO_FIGURES: PoolFigures = { instances: 0, busy: 0, blanks: 0, waiting: 0, coldStarts: 0 };

export function noSandbox(reason: string): Sandbox {
  return {
    run: () => Promise.reject(new SandboxUnavailable(reason)),
    state: () => ({ isAvailable: false, reason }),
    figures: () => NO_FIGURES,
    close: () => Promise.resolve(),
  };
}
