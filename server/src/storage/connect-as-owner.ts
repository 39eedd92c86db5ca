import type pg from 'pg';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { ConnectionTarget, TimeBounds } from './connection.js';
import { endpointsOf } from './connection.js';
import { connectToFitting } from './host-choice.js';

/** For work of an operator: of several hosts the one that takes changes, and a sentence if there is none. */
export async function connectAsOwner(
  owner: ConnectionTarget,
  bounds: TimeBounds,
  more: pg.ClientConfig = {},
): Promise<pg.Client> {
  try {
    return (await connectToFitting(endpointsOf(owner), bounds, more)).client;
  } catch (error) {
    throw new ExitError(EXIT.unavailable, 'The database cannot be reached with the owner address.', error);
  }
}
