import type { ReactNode } from 'react';
import { useTitle } from './entry-page.js';

export interface PageHeaderProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Beside the title, the most important one last. */
  readonly actions?: ReactNode;
}

/** The head of a page: its one first heading, also the title of the browser's tab. */
export function PageHeader({ title, lead, actions }: PageHeaderProps) {
  useTitle(title);
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {lead && <p className="mt-1 max-w-prose text-sm text-muted wrap-anywhere">{lead}</p>}
      </div>
      {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}
