import { useSyncExternalStore } from 'react';

const KEY = 'strongroom.times';
const listeners = new Set<() => void>();

function zone(): 'utc' | 'local' {
  return localStorage.getItem(KEY) === 'utc' ? 'utc' : 'local';
}

const FORMATS = {
  local: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  utc: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
} as const;
const EXACT = { dateStyle: 'medium', timeStyle: 'medium' } as const;
const EXACT_FORMATS = {
  local: new Intl.DateTimeFormat(undefined, EXACT),
  utc: new Intl.DateTimeFormat(undefined, { ...EXACT, timeZone: 'UTC' }),
} as const;

/** Whether times are those of this place or UTC. */
export function useTimes() {
  const shown = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, zone);
  return {
    zone: shown,
    change: () => {
      if (shown === 'utc') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, 'utc');
      for (const listener of listeners) listener();
    },
  } as const;
}

/** A moment, as people here write it; as it was stored when it is pointed at. */
export function When({ at, isExact = false }: { readonly at: string; readonly isExact?: boolean }) {
  const { zone: shown } = useTimes();
  return (
    <time dateTime={at} title={at}>
      {(isExact ? EXACT_FORMATS : FORMATS)[shown].format(new Date(at))}
      {shown === 'utc' && ' UTC'}
    </time>
  );
}

/** Goes from times of this place to UTC and back. */
export function TimesButton() {
  const { zone: shown, change } = useTimes();
  return (
    <button
      type="button"
      onClick={change}
      title={shown === 'utc' ? 'Times are UTC' : 'Times are local'}
      aria-label={shown === 'utc' ? 'Times are UTC. Change to local times' : 'Times are local. Change to UTC'}
      className="inline-flex h-9 items-center justify-center rounded-lg px-2 text-xs font-medium text-muted hover:bg-sunken hover:text-ink"
    >
      {shown === 'utc' ? 'UTC' : 'Local'}
    </button>
  );
}
