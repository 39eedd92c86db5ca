import type { ReactNode } from 'react';

export interface Fact {
  readonly title: string;
  readonly value: ReactNode;
  /** Takes a line of its own. */
  readonly isWide?: boolean;
}

/** What is known of one thing, in pairs. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-8 gap-y-4 rounded-xl border border-line bg-card p-5 sm:grid-cols-2 xl:grid-cols-3">
      {facts.map(({ title, value, isWide }) => (
        <div key={title} className={isWide ? 'min-w-0 sm:col-span-full' : 'min-w-0'}>
          <dt className="text-[13px] text-muted">{title}</dt>
          <dd className="mt-0.5 text-sm break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
