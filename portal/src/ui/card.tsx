import type { ReactNode } from 'react';

export interface CardProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Beside the title. */
  readonly action?: ReactNode;
  readonly children?: ReactNode;
}

/** A part of a page. */
export function Card({ title, lead, action, children }: CardProps) {
  return (
    <section className="rounded-xl border border-line bg-card">
      <header className="flex flex-wrap items-start justify-between gap-3 px-5 pt-5 pb-4">
        <div className="min-w-0">
          <h2 className="text-[15px] font-semibold">{title}</h2>
          {lead && <p className="mt-1 max-w-prose text-sm text-muted">{lead}</p>}
        </div>
        {action}
      </header>
      {children && <div className="border-t border-line px-5 py-4 empty:hidden">{children}</div>}
    </section>
  );
}
