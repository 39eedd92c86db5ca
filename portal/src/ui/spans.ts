/** Where times are told: at this place, or in UTC. */
export type Zone = 'local' | 'utc';

const DAY_SECONDS = 86_400;
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONTH = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const MOMENT = { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' } as const;
const MOMENTS = {
  local: new Intl.DateTimeFormat(undefined, MOMENT),
  utc: new Intl.DateTimeFormat(undefined, { ...MOMENT, timeZone: 'UTC' }),
} as const;

/** A day such as `2024-02-13`. */
export function dayText(day: string): string {
  return DAY.format(new Date(`${day}T00:00:00Z`));
}

/** A month such as `2024-02`. */
export function monthText(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`));
}

/** Days and longer are days of UTC, wherever one is: that is how they were counted. */
export function spanText(from: string, to: string, zone: Zone): string {
  const [start, end] = [new Date(from), new Date(to)];
  const seconds = (end.getTime() - start.getTime()) / 1_000;
  if (seconds < DAY_SECONDS) return MOMENTS[zone].formatRange(start, end);
  return seconds === DAY_SECONDS ? DAY.format(start) : DAY.formatRange(start, new Date(end.getTime() - 1));
}

/** The day after a day such as `2024-02-13`. */
export function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_SECONDS * 1_000).toISOString().slice(0, 10);
}

/** The month after a month such as `2024-02`. */
export function monthAfter(month: string): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + 1);
  return first.toISOString().slice(0, 7);
}
