import { AppError } from '../kernel/errors.js';

/**
 * A refusal that a change came to before it wrote anything. There is nothing to undo, so the others in its transaction
 * go on and commit; only the caller of this change gets the refusal.
 */
export class Unwritten extends Error {
  override readonly name = 'Unwritten';
  readonly refusal: AppError;

  constructor(refusal: AppError) {
    super('refused before anything was written', { cause: refusal });
    this.refusal = refusal;
  }
}

/** Decides something inside a change that has only read so far: what is refused here is `Unwritten`. */
export function beforeWriting<T>(decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    throw error instanceof AppError ? new Unwritten(error) : error;
  }
}
