import { permissionsOf } from '../../../access/permissions.js';
import { dayOfEntry } from '../../../audit/count-queries.js';
import { formatDate } from '../../../kernel/dates.js';
import type { People } from '../../../people/people.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { Database } from '../../../storage/database.js';
import { READ_BY_INDEX } from '../../../storage/in-order.js';
import { TOKEN_TYPES } from '../../../vault/index.js';
import type { BusyApplicationRow, DaySpan, KindOfDay, StepsRow } from '../queries.js';
import { findSteps, listBusyApplications, listKindsByDay } from '../queries.js';
import type { PortalOverview } from '../schema.js';

export interface OverviewOptions {
  readonly database: Database;
  readonly people: Pick<People, 'factors' | 'passkeys'>;
  /** Then refused requests have an entry. */
  readonly isAuditedInFull: boolean;
}

/** With today. */
const DAYS_SHOWN = 30;
const APPLICATIONS_SHOWN = 5;
const DAY_MS = 86_400_000;

const PERMISSIONS_MAX = {
  public: permissionsOf('public').length,
  private: permissionsOf('private').length,
  management: permissionsOf('management').length,
};

/** All of an overview that the usage report does not have: one round trip for the tenant, one for the user's own account. */
export async function overviewOf(
  { database, people, isAuditedInFull }: OverviewOptions,
  { tenantId, signedIn, nowMs }: { readonly tenantId: string; readonly signedIn: SignedIn; readonly nowMs: number },
): Promise<Omit<PortalOverview, 'tokens'>> {
  const lastDay = dayOfEntry(nowMs);
  const span = { firstDay: lastDay - DAYS_SHOWN + 1, lastDay };
  const asked = { nowMs, tokenTypes: TOKEN_TYPES, permissionsMax: PERMISSIONS_MAX };
  const [[, kinds, busy, steps], hasFactor] = await Promise.all([
    database.readAtOnce(tenantId, (tx) =>
      Promise.all([
        tx.run(READ_BY_INDEX, []),
        listKindsByDay(tx, span),
        listBusyApplications(tx, span, nowMs, APPLICATIONS_SHOWN),
        findSteps(tx, asked),
      ]),
    ),
    hasSecondFactor(database, people, signedIn),
  ]);
  return {
    activity: activityOf(kinds, span),
    top_applications: busy.map(busyBodyOf),
    refusals: { is_logged: isAuditedInFull, ...refusalsOf(kinds, span) },
    first_steps: stepsOf(steps, hasFactor),
  };
}

/** Days without an entry too, so that nobody has to fill gaps. */
function daysOf({ firstDay, lastDay }: DaySpan): number[] {
  return Array.from({ length: lastDay - firstDay + 1 }, (_, later) => firstDay + later);
}

function activityOf(kinds: readonly KindOfDay[], span: DaySpan): PortalOverview['activity'] {
  const done = kinds.filter(({ isDenied }) => !isDenied);
  return daysOf(span).map((day) => {
    const ofDay = done.filter((kind) => kind.day === day).sort((a, b) => b.count - a.count || order(a, b));
    return {
      date: dateOf(day),
      total: sumOf(ofDay),
      operations: ofDay.map(({ entityType, operation, count }) => ({ entity_type: entityType, operation, count })),
    };
  });
}

function order(a: KindOfDay, b: KindOfDay): number {
  return `${a.entityType} ${a.operation}` < `${b.entityType} ${b.operation}` ? -1 : 1;
}

function refusalsOf(kinds: readonly KindOfDay[], span: DaySpan): Omit<PortalOverview['refusals'], 'is_logged'> {
  const denied = kinds.filter(({ isDenied }) => isDenied);
  const days = daysOf(span).map((day) => ({
    date: dateOf(day),
    count: sumOf(denied.filter((kind) => kind.day === day)),
  }));
  return { total: sumOf(denied), days };
}

function sumOf(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** `2030-01-31` */
function dateOf(day: number): string {
  return formatDate(day * DAY_MS).slice(0, 10);
}

function busyBodyOf({ id, name, count }: BusyApplicationRow): PortalOverview['top_applications'][number] {
  return { id, ...(name !== null && { name }), is_deleted: name === null, count: Number(count) };
}

function stepsOf(row: StepsRow | undefined, hasFactor: boolean): PortalOverview['first_steps'] {
  return [
    { step: 'create_application', is_done: row?.has_application === true },
    { step: 'create_token', is_done: row?.has_token === true },
    { step: 'read_token', is_done: row?.has_read === true },
    { step: 'narrow_access', is_done: row?.has_narrow === true },
    { step: 'invite_member', is_done: row?.has_company === true },
    { step: 'add_second_factor', is_done: hasFactor },
    { step: 'add_code', is_done: row?.has_code === true },
  ];
}

async function hasSecondFactor(
  database: Database,
  people: OverviewOptions['people'],
  { userId, hasSecondFactor: isProven }: SignedIn,
): Promise<boolean> {
  if (isProven) return true;
  return database.readPeople(async (tx) => {
    const [{ authenticatorSinceMs }, passkeys] = [
      await people.factors.state(tx, userId),
      await people.passkeys.list(tx, userId),
    ];
    return authenticatorSinceMs !== undefined || passkeys.length > 0;
  });
}
