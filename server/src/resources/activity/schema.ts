import type { Static } from 'typebox';
import Type from 'typebox';
import { DateTime, named, Uuid } from '../../http/routes/schema.js';
import { LogFilterParameters } from '../logs/index.js';
import { UsageReport } from '../reports/index.js';

const Day = Type.String({ format: 'date', examples: ['2024-02-13'], description: 'A day in UTC' });
const Count = Type.Integer({ minimum: 0 });

/** What a new tenant does first, in the order in which pages show it. */
export const FIRST_STEPS = [
  'create_application',
  'create_token',
  'read_token',
  'narrow_access',
  'invite_member',
  'add_second_factor',
  'add_code',
] as const;
export type FirstStep = (typeof FIRST_STEPS)[number];

export const PortalOverview = named('PortalOverview', {
  tokens: named('PortalOverviewTokens', {
    active_this_month: Type.Integer({ description: 'Tokens created, read or used in the current month (UTC)' }),
    included_this_month: Type.Integer({ description: 'What the plan includes' }),
    by_type: Type.Array(
      named('PortalTokensOfType', { type: Type.String(), count: Count, last_created_at: Type.Optional(DateTime) }),
    ),
  }),
  activity: Type.Array(
    named('PortalActivityDay', {
      date: Day,
      total: Count,
      operations: Type.Array(
        named('PortalOperationCount', { entity_type: Type.String(), operation: Type.String(), count: Count }),
      ),
    }),
    { description: 'Log entries of the last 30 days without refusals, oldest day first, with days that have none' },
  ),
  top_applications: Type.Array(
    named('PortalActiveApplication', {
      id: Uuid,
      name: Type.Optional(Type.String({ description: 'Absent for one that is deleted' })),
      is_deleted: Type.Boolean(),
      count: Count,
    }),
    { description: 'The five with most log entries in these 30 days, refusals apart' },
  ),
  refusals: named('PortalRefusals', {
    is_logged: Type.Boolean({ description: 'Whether refused requests are logged: STRONGROOM_AUDIT=full' }),
    total: Count,
    days: Type.Array(named('PortalRefusalDay', { date: Day, count: Count })),
  }),
  first_steps: Type.Array(named('PortalFirstStep', { step: Type.Enum([...FIRST_STEPS]), is_done: Type.Boolean() })),
});

export const PortalUsage = named('PortalUsage', {
  report: UsageReport,
  months: Type.Array(
    named('PortalUsageMonth', {
      month: Type.String({ examples: ['2024-02'], description: 'A month in UTC' }),
      active_tokens: Count,
    }),
    { description: 'Those before the current one, newest first, up to 24, from the first that has any' },
  ),
});

/** Those of `GET /logs`, without what is about pages. */
export const HistogramQuery = Type.Object(LogFilterParameters);

export const LogHistogram = named('PortalLogHistogram', {
  bucket_seconds: Type.Integer({ description: 'How long each bucket is' }),
  buckets: Type.Array(named('PortalLogBucket', { from: DateTime, to: DateTime, count: Count }), {
    description: 'Oldest first, without gaps, at most 60. The first and the last may reach beyond what was asked for',
  }),
  total: Type.Integer({ minimum: 0, description: 'Of all buckets' }),
  is_partial: Type.Boolean({ description: 'There are more entries than were looked at' }),
  complete_from: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Only if it is partial: buckets from here on are complete, those before may have more',
    }),
  ),
});

export type PortalOverview = Static<typeof PortalOverview>;
export type PortalUsage = Static<typeof PortalUsage>;
export type HistogramQuery = Static<typeof HistogramQuery>;
export type LogHistogram = Static<typeof LogHistogram>;
