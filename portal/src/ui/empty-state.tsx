import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  readonly icon: LucideIcon;
  readonly title: string;
  /** Why there is nothing, and what to do next. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** In place of a list that has nothing to show. */
export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center rounded-xl border border-dashed border-line-strong px-6 py-12 text-center">
      <span className="rounded-xl bg-accent-soft p-3 text-accent">
        <Icon aria-hidden className="size-6" />
      </span>
      <p className="mt-4 font-medium">{title}</p>
      <div className="mt-1 max-w-md text-sm text-muted">{children}</div>
      {action && <div className="mt-5">{action}</div>}
    </div>
  );
}
