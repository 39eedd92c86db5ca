import { ChartColumn } from 'lucide-react';
import type { ReactNode } from 'react';
import { Bars } from '../../ui/bars.js';
import { Card } from '../../ui/card.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { numberText } from '../../ui/numbers.js';
import type { DefinitionKind, DefinitionMetrics } from './definition-kind.js';
import { durationText, failuresOf, useMetrics } from './definition-kind.js';
import { failureWords } from './failure-words.js';

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export interface FiguresProps {
  readonly kind: DefinitionKind;
  readonly id: string;
  /** How to make the first call. */
  readonly firstCall: ReactNode;
}

/** The calls of 30 days: how many, how long they took, what became of them. */
export function Figures({ kind, id, firstCall }: FiguresProps) {
  const query = useMetrics(kind, id);
  return (
    <Loaded query={query}>
      {(metrics) =>
        metrics.total.calls === 0 ? (
          <EmptyState icon={ChartColumn} title="No calls in the last 30 days">
            <div className="space-y-4">
              <p>Figures appear with the first call. Test runs and previews are not counted.</p>
              {firstCall}
            </div>
          </EmptyState>
        ) : (
          <Shown metrics={metrics} />
        )
      }
    </Loaded>
  );
}

function Shown({ metrics: { total, days } }: { readonly metrics: DefinitionMetrics }) {
  const failed = failuresOf(total);
  const inOrder = [...days].reverse();
  const failures = Object.entries(total.errors).sort(([, a], [, b]) => b - a);
  return (
    <div className="space-y-6">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-5">
        <Tile title="Calls" text={numberText(total.calls)} />
        <Tile title="Errors" text={numberText(failed)} more={SHARE.format(failed / total.calls)} />
        <Tile
          title="Half took at most"
          text={total.p50_ms === undefined ? '–' : durationText(total.p50_ms)}
          more="p50"
        />
        <Tile
          title="99% took at most"
          text={total.p99_ms === undefined ? '–' : durationText(total.p99_ms)}
          more="p99"
        />
        <Tile title="Cold starts" text={numberText(total.cold_starts)} />
      </dl>
      <Card title="Calls by day" lead="The last 30 days, in UTC.">
        <Bars
          label="Calls by day"
          times={inOrder.map(({ date }) => DAY.format(new Date(date)))}
          series={[
            { name: 'Succeeded', values: inOrder.map((day) => day.calls - failuresOf(day)) },
            { name: 'Failed', values: inOrder.map(failuresOf) },
          ]}
        />
      </Card>
      {failures.length > 0 && (
        <section className="space-y-3">
          <h2 className="text-[15px] font-semibold">What failed</h2>
          <DataTable
            label="Failures of 30 days"
            rows={failures}
            keyOf={([name]) => name}
            columns={[
              { title: 'Class', isHead: true, cell: ([name]) => <code className="font-mono text-[13px]">{name}</code> },
              { title: 'What it means', cell: ([name]) => <span className="text-muted">{failureWords(name)}</span> },
              { title: 'Calls', isFigure: true, cell: ([, count]) => numberText(count) },
            ]}
          />
        </section>
      )}
    </div>
  );
}

function Tile({ title, text, more }: { readonly title: string; readonly text: string; readonly more?: string }) {
  return (
    <div className="rounded-xl border border-line bg-card px-4 py-3">
      <dt className="text-[13px] text-muted">{title}</dt>
      <dd className="mt-0.5 flex items-baseline gap-2">
        <span className="text-xl font-semibold tracking-tight tabular-nums">{text}</span>
        {more && <span className="text-[13px] text-muted">{more}</span>}
      </dd>
    </div>
  );
}
