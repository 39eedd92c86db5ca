/**
 * Type, operation and outcome of an entry make its kind, and a number stands for it in the indexes for filters. Each
 * text has bits of its own, from the server's hash of it, so that a filter by one of them knows which numbers can
 * match. The last bit is always set: 0 is for entries without a number, written by a process of the previous release.
 *
 * This format is stored for ever: migration 19 numbered older entries in the same way.
 */
export const KIND_BITS = {
  entity_type: { shift: 39, mask: 2 ** 24 - 1 },
  operation: { shift: 15, mask: 2 ** 24 - 1 },
  outcome: { shift: 1, mask: 2 ** 14 - 1 },
} as const;

/** The expression for the number, of three columns or parameters. */
export function kindNumber(texts: { readonly [part in keyof typeof KIND_BITS]: string }): string {
  const bits = (part: keyof typeof KIND_BITS): string => {
    const { shift, mask } = KIND_BITS[part];
    return `((hashtext(${texts[part]}) & ${mask})::bigint << ${shift})`;
  };
  return `(${bits('entity_type')} | ${bits('operation')} | ${bits('outcome')} | 1)`;
}

/** Of a row that has the columns of an entry. */
export const KIND_NUMBER = kindNumber({ entity_type: 'entity_type', operation: 'operation', outcome: 'outcome' });
