import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { PortalUsage, TokenReport } from '../../api/generated.js';
import { LogLink } from '../../tenant/log-link.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Card } from '../../ui/card.js';
import { Loaded } from '../../ui/loaded.js';
import { numberText } from '../../ui/numbers.js';
import { PageHeader } from '../../ui/page-header.js';
import { ActiveOfPlan } from '../overview/tiles.js';
import { TokensByType } from '../overview/tokens-by-type.js';
import { Months } from './months.js';

/** What the tenant uses of its plan, now and before. */
export function UsagePage() {
  const { id } = useTenant();
  const query = useQuery({
    queryKey: ['tenant', id, 'usage'],
    queryFn: ({ signal }) => call('GET /portal/api/tenants/{tenant_id}/usage', { params: { tenant_id: id }, signal }),
  });
  return (
    <>
      <PageHeader
        title="Usage"
        lead="A token is active in a month when it is created, read or used in it, and counts once. Months are those of UTC."
      />
      <Loaded query={query}>{(usage) => <Report usage={usage} />}</Loaded>
    </>
  );
}

function Report({ usage: { report, months } }: { readonly usage: PortalUsage }) {
  const { token_report: tokens } = report;
  return (
    <div className="space-y-6">
      <ThisMonth tokens={tokens} />
      <Months months={months} current={tokens.monthly_active_tokens} />
      <TokensByType types={Object.entries(tokens.metrics_by_type).map(([type, metrics]) => ({ type, ...metrics }))} />
    </div>
  );
}

function ThisMonth({ tokens }: { readonly tokens: TokenReport }) {
  const stored = Object.values(tokens.metrics_by_type).reduce((sum, { count }) => sum + count, 0);
  const { monthly_active_tokens: active, included_monthly_active_tokens: included } = tokens;
  return (
    <Card title="This month">
      <dl className="grid gap-6 sm:grid-cols-3">
        <Figure title="Active tokens">{numberText(active)}</Figure>
        <Figure title="Included in the plan">{numberText(included)}</Figure>
        <Figure title="Tokens stored">{numberText(stored)}</Figure>
      </dl>
      <div className="mt-5 text-[13px] text-muted">
        <ActiveOfPlan active={active} included={included} />
      </div>
      <p className="mt-4 text-sm">
        <LogLink search={{ operation: 'create' }}>What was created, in the log</LogLink>
      </p>
    </Card>
  );
}

function Figure({ title, children }: { readonly title: string; readonly children: string }) {
  return (
    <div>
      <dt className="text-sm text-muted">{title}</dt>
      <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">{children}</dd>
    </div>
  );
}
