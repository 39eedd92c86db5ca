import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

const TONES = {
  info: ['bg-accent-soft text-ink', Info],
  ok: ['bg-ok-soft text-ok', CircleCheck],
  warn: ['bg-warn-soft text-warn', TriangleAlert],
  danger: ['bg-danger-soft text-danger', CircleAlert],
} as const;

export interface CalloutProps {
  readonly tone: keyof typeof TONES;
  readonly title?: string;
  readonly children?: ReactNode;
}

/** Something that has to be read before going on. */
export function Callout({ tone, title, children }: CalloutProps) {
  const [colours, Icon] = TONES[tone];
  return (
    <div
      role={tone === 'danger' ? 'alert' : 'status'}
      className={classes('flex gap-3 rounded-lg px-4 py-3 text-sm', colours)}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 space-y-1">
        {title && <p className="font-medium">{title}</p>}
        {children && <div>{children}</div>}
      </div>
    </div>
  );
}
