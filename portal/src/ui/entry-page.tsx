import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { Brand } from './brand.js';
import { ThemeButton } from './theme.js';

export interface EntryPageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
  /** Below the card. */
  readonly foot?: ReactNode;
}

/** Pages for people who are not signed in: one card, one thing to do. */
export function EntryPage({ title, lead, children, foot }: EntryPageProps) {
  useTitle(title);
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center justify-between px-5 py-4">
        <Brand />
        <ThemeButton />
      </header>
      <main className="flex flex-1 items-start justify-center px-4 pt-[6vh] pb-12">
        <div className="w-full max-w-[26rem]">
          <section className="rounded-2xl border border-line bg-card p-6 shadow-sm sm:p-8">
            <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
            {lead && <p className="mt-1.5 text-sm text-muted">{lead}</p>}
            {children && <div className="mt-6 space-y-5">{children}</div>}
          </section>
          {foot && <div className="mt-5 text-center text-sm text-muted">{foot}</div>}
        </div>
      </main>
    </div>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Strongroom`;
  }, [title]);
}
