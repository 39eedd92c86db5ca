import type { ReactNode } from 'react';
import type { PortalOverview } from '../../api/generated.js';
import type { LogSearch } from '../../tenant/log-link.js';
import { LogLink } from '../../tenant/log-link.js';
import { Meter } from '../../ui/meter.js';
import { numberText } from '../../ui/numbers.js';

export interface TilesProps {
  readonly overview: PortalOverview;
  /** The days that are shown. */
  readonly span: LogSearch;
}

/** The three figures one comes for. */
export function Tiles({ overview, span }: TilesProps) {
  const { tokens, activity, refusals } = overview;
  const done = activity.reduce((sum, { total }) => sum + total, 0);
  return (
    <dl className="grid gap-4 md:grid-cols-3">
      <Tile
        title="Active tokens this month"
        figure={
          <LogLink search={monthOf(activity)} label={`${numberText(tokens.active_this_month)}: the log of this month`}>
            {numberText(tokens.active_this_month)}
          </LogLink>
        }
      >
        <ActiveOfPlan active={tokens.active_this_month} included={tokens.included_this_month} />
      </Tile>
      <Tile
        title="Log entries"
        figure={
          <LogLink search={span} label={`${numberText(done)}: the log of these days`}>
            {numberText(done)}
          </LogLink>
        }
      >
        Everything done in the last 30 days, refusals apart.
      </Tile>
      <Tile title="Refused requests" figure={<Refused refusals={refusals} span={span} />}>
        {refusals.is_logged
          ? 'Requests in the last 30 days that a permission or a rule did not allow.'
          : 'This server does not log refusals. Below is how to turn it on.'}
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly title: string;
  readonly figure: ReactNode;
  readonly children: ReactNode;
}

function Tile({ title, figure, children }: TileProps) {
  return (
    <div className="flex flex-col rounded-xl border border-line bg-card p-5">
      <dt className="text-sm text-muted">{title}</dt>
      <dd className="mt-1 text-3xl font-semibold tracking-tight tabular-nums">{figure}</dd>
      <dd className="mt-3 text-[13px] text-muted">{children}</dd>
    </div>
  );
}

/** How far the plan is used up, as a picture and in words. */
export function ActiveOfPlan({ active, included }: { readonly active: number; readonly included: number }) {
  return (
    <div className="space-y-2">
      <Meter label="Active tokens of those included" value={active} most={included} />
      <p>
        {active > included
          ? `${numberText(active - included)} more than the ${numberText(included)} that are included.`
          : `${numberText(included - active)} left of ${numberText(included)} included.`}
      </p>
    </div>
  );
}

function Refused({ refusals, span }: { readonly refusals: PortalOverview['refusals']; readonly span: LogSearch }) {
  if (!refusals.is_logged && refusals.total === 0) return <span className="text-muted">Not logged</span>;
  return (
    <LogLink search={{ ...span, outcome: 'denied' }} label={`${numberText(refusals.total)}: the log of refusals`}>
      {numberText(refusals.total)}
    </LogLink>
  );
}

function monthOf(days: PortalOverview['activity']): LogSearch {
  const today = days.at(-1)?.date;
  return today === undefined ? {} : { start_date: `${today.slice(0, 7)}-01` };
}
