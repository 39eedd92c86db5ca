import type { ByteBudget, Release } from '../../kernel/byte-budget.js';

/** What is made of a body on the way to its rows: text, sealed record, statement. */
const BODY_TIMES = 4;
/** What a value in a body takes once it is parsed, and what tells one from the next. */
const VALUE_BYTES = 24;
/** What may be made of a body without a share: as many such as there may be requests at once still fit into memory. */
const FREE_WEIGHT_MAX = 262_144;
/** A body of this size is light whatever it says, and nobody has to look. */
const LIGHT_BYTES_MAX = Math.floor(FREE_WEIGHT_MAX / (BODY_TIMES + VALUE_BYTES));
const COMMA = 0x2c;
const ARRAY = 0x5b;
const OBJECT = 0x7b;

/**
 * Room for a body that takes much, until its answer is out; undefined for one that needs none. A change of a stored token
 * may have to hold that one too, so with such a body it has all its tenant may have.
 */
export function shareFor(
  bytes: ByteBudget,
  tenantId: string,
  method: string | undefined,
  body: Buffer,
): Promise<Release> | undefined {
  if (body.length <= LIGHT_BYTES_MAX) return undefined;
  const weight = weightOf(body);
  if (weight <= FREE_WEIGHT_MAX) return undefined;
  return bytes.take(tenantId, method === 'PATCH' ? Infinity : weight);
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
