import type { Zone } from '../../ui/spans.js';

const pad = (value: number) => String(value).padStart(2, '0');

/** A moment as a field for date and time takes it; empty where it is none. */
export function inputOf(iso: string | undefined, zone: Zone): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const text =
    zone === 'utc'
      ? at.toISOString().slice(0, 19)
      : `${String(at.getFullYear()).padStart(4, '0')}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
  return text.endsWith(':00') ? text.slice(0, 16) : text;
}

/** What such a field means; undefined where nothing is in it. */
export function momentOf(text: string, zone: Zone): string | undefined {
  if (text === '') return undefined;
  const at = new Date(zone === 'utc' ? `${text}Z` : text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
