import { AppError, storageUnavailable } from '../kernel/errors.js';

/** SQLSTATE classes that say the server cannot serve us now, rather than that the statement is wrong. */
const UNAVAILABLE_CLASSES = new Set(['08', '25', '53', '54', '57', '58', 'F0', 'XX']);
const UNAVAILABLE_STATES = new Set(['40001', '40P01', '55P03', '55006']);
const CONFLICT_STATES = new Set(['40001', '40P01']);
const NAME_LOST_STATES = new Set(['26000', '42P05']);

/** Marks what came from the driver, as opposed to a 503 a service threw for a reason of its own. */
export class DriverFault extends Error {
  override readonly name = 'DriverFault';
  /** It came instead of the answer to a COMMIT, so what it was about may have been done. */
  readonly isOutcomeUnknown: boolean;

  constructor(cause: unknown, isOutcomeUnknown = false) {
    super('the database driver failed', { cause });
    this.isOutcomeUnknown = isOutcomeUnknown;
  }
}

/** The SQLSTATE of a server's answer; undefined for anything that is not one. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, severity } = error as { code?: unknown; severity?: unknown }; // Read as unknown, checked below.
  if (typeof code === 'string' && typeof severity === 'string' && code.length === 5) return code;
  return error instanceof AppError || error instanceof DriverFault ? sqlStateOf(error.cause) : undefined;
}

/**
 * The server goes on serving this connection; what is worse than an error ends it. A server that speaks another language
 * than English is not understood here.
 */
export function isPlainError(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && (error as { severity?: unknown }).severity === 'ERROR'; // It has one, see above.
}

/** Detected by the work itself: what it read is no longer true, because another change came first. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** Two changes got in each other's way: nothing was done, the same work may run again at once. */
export function isConflict(error: unknown): boolean {
  if (isOutcomeUnknown(error)) return false;
  return error instanceof Overtaken || CONFLICT_STATES.has(sqlStateOf(error) ?? '');
}

/** The transaction had already failed: the reason is elsewhere. */
export function isAftermath(error: unknown): boolean {
  return sqlStateOf(error) === '25P02';
}

/** It came instead of the answer to a COMMIT. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof AppError && error.cause instanceof DriverFault && error.cause.isOutcomeUnknown;
}

/** Among them a session the server ended because it heard nothing on it for too long. */
const OUTAGE = /^(08|25006|25P03|25P04|53|57P|58|F0|XX)/;

/** The store itself is in trouble, so that trying the same again at once is no use to anybody. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof AppError && error.cause instanceof DriverFault)) return false;
  // The change may have been made, so a retry could make it twice.
  if (isOutcomeUnknown(error)) return true;
  const state = sqlStateOf(error);
  return state === undefined || OUTAGE.test(state);
}

/** The server lacks a resource, is going down, or was told to stop: retrying one by one would make it worse. */
const NOT_OF_A_STATEMENT = /^(08|25006|25P0|53|57|58|F0)/;

/**
 * A statement that many callers share was refused, by the server or before it was sent, and one of them may be the reason:
 * apart from that one the others may well be served.
 */
export function mayBeOneCallers(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === undefined) return !(error instanceof AppError);
  return isPlainError(answerIn(error)) && !isNameLost(error) && !NOT_OF_A_STATEMENT.test(state);
}

/** What the server said, without what we wrapped it in; of two callers the same when they shared its statement. */
export function answerIn(error: unknown): unknown {
  return error instanceof AppError || error instanceof DriverFault ? answerIn(error.cause) : error;
}

/** The server takes no changes any more, or is going down: its connection must not be reused. */
export function isHostLost(error: unknown): boolean {
  return sqlStateOf(error) === undefined ? isOutage(error) : isOfNoUse(error);
}

/** Of a connection that could not be made: a server that answers that it is full or that the login is wrong is alive. */
export function isOfNoUse(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || state === '25006' || state.startsWith('57P');
}

/** A proxy led a prepared statement to a connection that does not know its name, or knows it already. */
export function isNameLost(error: unknown): boolean {
  return NAME_LOST_STATES.has(sqlStateOf(error) ?? '');
}

/** What an operator has to do then. */
export const NAME_LOST_ADVICE =
  'A proxy before the database does not keep the names of prepared statements. Set STRONGROOM_DATABASE_PREPARED_STATEMENTS to off, or let PgBouncer 1.21 or newer keep them (max_prepared_statements).';

/** Detected by the work itself, where no key of the database does. */
export class StillReferred extends Error {
  override readonly name = 'StillReferred';
}

/** Another row refers to the one that was to be deleted. */
export function isStillReferred(error: unknown): boolean {
  return error instanceof StillReferred || (sqlStateOf(error) === '23503' && !isOutcomeUnknown(error));
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === '23505' && !isOutcomeUnknown(error);
}

/**
 * The one translation of what the driver throws. Without a SQLSTATE it comes from the connection (refused, reset, timed
 * out, ended), so the store is unavailable; so it is for some states, among them a name that a proxy lost. Any other answer
 * of the server is a mistake of ours and stays as it is.
 */
export function translateDriverFault(error: unknown): unknown {
  const state = sqlStateOf(error);
  if (state === undefined) return storageUnavailable(new DriverFault(error));
  const isUnavailable = UNAVAILABLE_STATES.has(state) || UNAVAILABLE_CLASSES.has(state.slice(0, 2));
  return isUnavailable || isNameLost(error) ? storageUnavailable(new DriverFault(error)) : error;
}

/** The connection broke while COMMIT was on its way: nobody can promise that nothing happened. */
export function outcomeUnknown(cause: unknown): AppError {
  return new AppError(
    'storage_unavailable',
    'The data store failed while the change was being committed, so it may or may not have been made. Read it back before trying again.',
    { headers: { 'Retry-After': '1' }, cause: new DriverFault(cause, true) },
  );
}
