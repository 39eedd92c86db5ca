import { X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { classes } from './classes.js';
import { useCountdown } from './use-countdown.js';

export interface Notice {
  /** Two with the same id are one. */
  readonly id: string;
  readonly tone: 'ok' | 'warn' | 'danger';
  readonly text: string;
  /** Counts down, and goes when it is over. */
  readonly untilSeconds?: number;
}

const SHOWN_MS = 6_000;
let notices: readonly Notice[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Tells something that belongs to no field and no page. */
export function announce(notice: Notice): void {
  change([...notices.filter(({ id }) => id !== notice.id), notice]);
}

function dismiss(id: string): void {
  change(notices.filter((notice) => notice.id !== id));
}

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-center gap-2"
    >
      {shown.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

const TONES = { ok: 'text-ok', warn: 'text-warn', danger: 'text-danger' } as const;

function NoticeCard({ notice }: { readonly notice: Notice }) {
  const { id, tone, text } = notice;
  const left = useCountdown(notice.untilSeconds, notice);
  useEffect(() => {
    if (left !== undefined && left > 0) return;
    const timer = setTimeout(() => dismiss(id), left === undefined ? SHOWN_MS : 0);
    return () => clearTimeout(timer);
  }, [id, left]);
  return (
    <div className="pointer-events-auto flex max-w-md items-center gap-3 rounded-lg border border-line bg-card px-4 py-3 text-sm shadow-lg">
      <p className={classes('font-medium', TONES[tone])}>
        {text} {left !== undefined && `Try again in ${left} s.`}
      </p>
      <button
        type="button"
        aria-label="Close"
        onClick={() => dismiss(id)}
        className="rounded p-1 text-muted hover:text-ink"
      >
        <X aria-hidden className="size-4" />
      </button>
    </div>
  );
}
