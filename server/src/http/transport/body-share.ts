import type { ByteBudget, Release } from '../../kernel/byte-budget.js';
import type { ReceivedBody } from './body.js';

/** What is made of a body on the way to its rows: text, sealed record, statement. */
const BODY_TIMES = 4;
/** What a value in a body takes once it is parsed, and what tells one from the next. */
const VALUE_BYTES = 24;
/** What may be made of a body without a share: as many such as there may be requests at once still fit into memory. */
const FREE_WEIGHT_MAX = 262_144;

/**
 * Room for a body that takes much, until its answer is out; undefined for one that needs none. A change of a stored token
 * may have to hold that one too, so with such a body it has all its tenant may have.
 */
export function shareFor(
  bytes: ByteBudget,
  tenantId: string,
  method: string | undefined,
  { body, scan }: ReceivedBody,
): Promise<Release> | undefined {
  if (scan === undefined) return undefined;
  // Many small values take ten times the memory of one long text.
  const weight = body.length * BODY_TIMES + scan.values * VALUE_BYTES;
  if (weight <= FREE_WEIGHT_MAX) return undefined;
  return bytes.take(tenantId, method === 'PATCH' ? Infinity : weight);
}
