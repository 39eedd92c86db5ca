/**
 * Arithmetic of the proleptic Gregorian calendar for the years from 1 on. A day is a number, counted from Monday
 * 0001-01-01, so the remainder by 7 is its weekday. A day that does not exist is null.
 */

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

export function calendarDay(year: number, month: number, day: number): number | null {
  const before = DAYS_BEFORE_MONTH[month - 1];
  const after = DAYS_BEFORE_MONTH[month];
  if (before === undefined || after === undefined) return null;
  const leapDay = isLeapYear(year) ? 1 : 0;
  const length = after - before + (month === 2 ? leapDay : 0);
  if (day < 1 || day > length) return null;
  return ordinalDay(year, before + (month > 2 ? leapDay : 0) + day);
}

export function ordinalDay(year: number, dayOfYear: number): number | null {
  if (year < 1 || dayOfYear < 1 || dayOfYear > (isLeapYear(year) ? 366 : 365)) return null;
  return daysBeforeYear(year) + dayOfYear - 1;
}

export function weekDay(year: number, week: number, day: number): number | null {
  if (year < 1 || week < 1 || day < 1 || day > 7) return null;
  const monday = firstMonday(year) + (week - 1) * 7;
  return monday < firstMonday(year + 1) ? monday + day - 1 : null;
}

/** The Monday of week 1, which is the week that holds 4 January. */
function firstMonday(year: number): number {
  const fourth = daysBeforeYear(year) + 3;
  return fourth - (fourth % 7);
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function daysBeforeYear(year: number): number {
  const past = year - 1;
  return past * 365 + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
}
