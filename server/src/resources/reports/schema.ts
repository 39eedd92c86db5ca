import type { Static } from 'typebox';
import Type from 'typebox';
import { DateTime, named } from '../../http/routes/schema.js';

export const TokenTypeMetrics = named('TokenTypeMetrics', {
  count: Type.Integer({ description: 'Number of tokens of the type' }),
  last_created_at: Type.Optional(DateTime),
});

export const TokenReport = named('TokenReport', {
  metrics_by_type: Type.Record(Type.String(), TokenTypeMetrics),
  included_monthly_active_tokens: Type.Integer({ description: 'Included in the billing plan' }),
  monthly_active_tokens: Type.Integer({ description: 'Tokens created, read or used in the current month (UTC)' }),
});

export const UsageReport = named('TenantUsageReport', { token_report: TokenReport });

export type UsageReport = Static<typeof UsageReport>;
