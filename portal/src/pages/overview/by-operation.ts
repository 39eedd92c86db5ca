import type { PortalOverview } from '../../api/generated.js';
import { wordsOf } from '../../tenant/entity-types.js';

export interface OperationSeries {
  /** Undefined for all others together. */
  readonly operation: string | undefined;
  readonly text: string;
  readonly total: number;
  /** One for each day. */
  readonly values: readonly number[];
}

const SHOWN_MAX = 5;

/** The operations with most entries, the largest first, and all others together. */
export function byOperation(days: PortalOverview['activity']): readonly OperationSeries[] {
  const names = [...new Set(days.flatMap(({ operations }) => operations.map(({ operation }) => operation)))];
  const series = names
    .map((operation) => seriesOf(days, operation, wordsOf(operation), (each) => each === operation))
    .sort((a, b) => b.total - a.total || (a.text < b.text ? -1 : 1));
  if (series.length <= SHOWN_MAX + 1) return series;
  const shown = series.slice(0, SHOWN_MAX);
  const isOther = (each: string) => !shown.some(({ operation }) => operation === each);
  return [...shown, seriesOf(days, undefined, 'Others', isOther)];
}

function seriesOf(
  days: PortalOverview['activity'],
  operation: string | undefined,
  text: string,
  belongs: (operation: string) => boolean,
): OperationSeries {
  const values = days.map(({ operations }) =>
    operations.filter((each) => belongs(each.operation)).reduce((sum, { count }) => sum + count, 0),
  );
  return { operation, text, total: values.reduce((sum, value) => sum + value, 0), values };
}
