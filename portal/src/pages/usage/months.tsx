import { CreditCard } from 'lucide-react';
import type { PortalUsage } from '../../api/generated.js';
import { LogLink } from '../../tenant/log-link.js';
import { Bars } from '../../ui/bars.js';
import { Card } from '../../ui/card.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { numberText } from '../../ui/numbers.js';
import { monthAfter, monthText } from '../../ui/spans.js';

type Month = PortalUsage['months'][number];

export interface MonthsProps {
  /** Those before this one, newest first. */
  readonly months: readonly Month[];
  /** Active tokens of this month. */
  readonly current: number;
}

const COLUMNS: readonly Column<Month>[] = [
  {
    title: 'Month',
    isHead: true,
    cell: ({ month }) => (
      <LogLink
        search={{ start_date: `${month}-01`, end_date: `${monthAfter(month)}-01` }}
        label={`${monthText(month)}: its log`}
      >
        {monthText(month)}
      </LogLink>
    ),
  },
  { title: 'Active tokens', isFigure: true, cell: ({ active_tokens: active }) => numberText(active) },
];

/** The months before, as a picture and as figures. */
export function Months({ months, current }: MonthsProps) {
  const [last] = months;
  if (last === undefined) {
    return (
      <EmptyState icon={CreditCard} title="There is no earlier month">
        This is the first month with active tokens. When it is over, it appears here.
      </EmptyState>
    );
  }
  const oldestFirst = [...months].reverse();
  return (
    <>
      <Card title="Active tokens by month" lead="The last bar is this month, which is not over.">
        <Bars
          label="Active tokens by month"
          times={[...oldestFirst.map(({ month }) => monthText(month)), 'This month']}
          series={[
            { name: 'Active tokens', values: [...oldestFirst.map(({ active_tokens: active }) => active), current] },
          ]}
          height={180}
        />
      </Card>
      <section aria-labelledby="months-before" className="space-y-3">
        <h2 id="months-before" className="text-[15px] font-semibold">
          Months before
        </h2>
        <DataTable label="Months before" columns={COLUMNS} rows={months} keyOf={({ month }) => month} />
      </section>
    </>
  );
}
