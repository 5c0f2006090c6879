// Times of a universe as dates, where its time 0 has one: to show, and to read what people type. UTC, as the server.

import { readDate } from './orbit';

/** A time as `2026-11-27 14:05`, or null without an epoch and beyond what calendars reach. */
export function dateOf(time: number, epoch: number | null): string | null {
  const date = new Date((epoch ?? NaN) + time * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('T', ' ').slice(0, -8);
}

/** The same for programs: `2026-11-27T14:05:09Z`. Seconds where there are no dates. */
export function stampOf(time: number, epoch: number | null): string {
  const date = new Date((epoch ?? NaN) + Math.round(time) * 1000);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().replace('.000', '');
}

/** The date of a universe's time 0 in milliseconds, if it says one. */
export function epochOf(text: unknown): number | null {
  const at = readDate(text);
  return Number.isNaN(at) ? null : at;
}

/** What people type that programs do not: parts left out, one digit for two, no zone, which is UTC then. */
const DATE = /^([+-]\d{6}|\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d(?:\.\d+)?))?)?)?)?\s*(Z|[+-]\d\d:\d\d)?$/i;
const SECONDS = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*(s?)$/i;

/** The time that a text means, or a sentence on what would be right. With an epoch four digits alone are a year. */
export function readTime(text: string, epoch: number | null, now = Date.now()): number | string {
  const given = text.trim(), isSeconds = SECONDS.test(given);
  if (epoch === null) {
    return isSeconds ? parseFloat(given) : `“${given}” is no time. This universe has no dates: type seconds, such as 86400.`;
  }
  if (/^(now|today)$/i.test(given)) return (now - epoch) / 1000;
  const found = DATE.exec(given);
  if (isSeconds && !found) return parseFloat(given);
  const [, year, month = '1', day = '1', hour = '0', minute = '00', second = '00', zone = 'Z'] = found ?? [], two = (it: string) => it.padStart(2, '0');
  const at = readDate(found ? `${year}-${two(month)}-${two(day)}T${two(hour)}:${minute}:${second}${zone}` : given);
  if (!Number.isNaN(at)) return (at - epoch) / 1000;
  return found ? `There is no such date as “${given}”.` : `“${given}” is no date. Type one such as 2026-11-27, 2026-11-27 20:15, a year, or now.`;
}
