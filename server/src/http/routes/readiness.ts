import { AppError } from '../../kernel/errors.js';

export interface ReadinessOptions {
  /** Rejects while the database does not answer. */
  readonly ping: () => Promise<void>;
  /** Told when the answer to probes changes, with the inside story of a no. */
  readonly onChange: (isReady: boolean, cause?: unknown) => void;
}

export interface Readiness {
  /** Rejects with what is missing. */
  check(): Promise<void>;
  /** From now on the database decides. */
  open(): void;
  close(): void;
}

const RETRY_SECONDS = 1;

/**
 * Whether this process can serve. Probes ask every few seconds for as long as something is missing, so what they are
 * told is theirs alone, and the log hears of it when it changes.
 */
export function createReadiness({ ping, onChange }: ReadinessOptions): Readiness {
  let phase: 'starting' | 'open' | 'stopping' = 'starting';
  let isAnswering = true;

  function note(isAnsweringNow: boolean, cause?: unknown): void {
    if (isAnswering === isAnsweringNow) return;
    isAnswering = isAnsweringNow;
    onChange(isAnswering, cause);
  }

  return {
    async check() {
      if (phase === 'starting') throw notReady('This process is still starting.');
      if (phase === 'stopping') throw notReady('This process is stopping. Ask another one.');
      try {
        await ping();
      } catch (error) {
        note(false, error);
        throw notReady('The database does not answer. The log of this process says why.', error);
      }
      note(true);
    },
    open() {
      if (phase === 'starting') phase = 'open';
    },
    close() {
      phase = 'stopping';
    },
  };
}

function notReady(detail: string, cause?: unknown): AppError {
  return new AppError('storage_unavailable', detail, { headers: { 'Retry-After': String(RETRY_SECONDS) }, cause });
}
