const WHOLE = new Intl.NumberFormat();
const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** A number as people here write it. */
export function numberText(value: number): string {
  return WHOLE.format(value);
}

/** A number where there is little room. */
export function shortNumber(value: number): string {
  return COMPACT.format(value);
}
