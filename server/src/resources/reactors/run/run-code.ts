import { AppError, overloaded } from '../../../kernel/errors.js';
import { InputTooLargeError } from '../../../sandbox/engine/prepared-run.js';
import type { LateSandbox } from '../../../sandbox/late-sandbox.js';
import { PoolFullError, StartError } from '../../../sandbox/pool/pool.js';
import { SandboxUnavailable } from '../../../sandbox/sandbox.js';

/** The sandbox, as requests see it: what keeps code from running is a refusal. */
export interface RunCode {
  /** Throws where it is known already that no code runs here. */
  check(): void;
  readonly run: LateSandbox['run'];
}

export function createRunCode(sandbox: Pick<LateSandbox, 'run' | 'state'>): RunCode {
  return {
    check() {
      if (sandbox.state()?.isAvailable === false) throw unavailable();
    },
    async run(code, input, bounds) {
      try {
        return await sandbox.run(code, input, bounds);
      } catch (error) {
        throw refusalOf(error);
      }
    },
  };
}

function refusalOf(error: unknown): unknown {
  if (error instanceof InputTooLargeError) {
    return new AppError(
      'payload_too_large',
      'The arguments are larger than 5242880 bytes with the values of their tokens.',
    );
  }
  if (error instanceof PoolFullError || error instanceof StartError) return overloaded();
  return error instanceof SandboxUnavailable ? unavailable() : error;
}

function unavailable(): AppError {
  return new AppError(
    'reactors_unavailable',
    'This server cannot run code of tenants. Everything else works. Ask its operator, whose log says why.',
  );
}
