import type { ByteBudget, Release } from '../kernel/byte-budget.js';

/** Bodies up to this size take no share: as many such as there may be requests at once still fit into memory. */
const FREE_BYTES_MAX = 65_536;
/** What is made of a body on the way to its rows: text, sealed record, statement. */
const BODY_TIMES = 4;
/** What a value in a body takes once it is parsed, and what tells one from the next. */
const VALUE_BYTES = 24;
const COMMA = 0x2c;
const ARRAY = 0x5b;
const OBJECT = 0x7b;

/**
 * Room for a large body, until its answer is out; undefined for one that needs none. A change of a stored token may have
 * to hold that one too, so with a large body it has all its tenant may have.
 */
export function shareFor(
  bytes: ByteBudget,
  tenantId: string,
  method: string | undefined,
  body: Buffer,
): Promise<Release> | undefined {
  if (body.length <= FREE_BYTES_MAX) return undefined;
  return bytes.take(tenantId, method === 'PATCH' ? Infinity : weightOf(body));
}

/** Many small values take ten times the memory of one long text. */
function weightOf(body: Buffer): number {
  let values = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === COMMA || byte === ARRAY || byte === OBJECT) values += 1;
  }
  return body.length * BODY_TIMES + values * VALUE_BYTES;
}
