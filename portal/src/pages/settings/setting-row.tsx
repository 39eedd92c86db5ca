import type { ReactNode } from 'react';

interface RowProps {
  readonly text: string;
  readonly hint: string;
  readonly children: ReactNode;
}

/** Something that can be done, and what it means. */
export function Row({ text, hint, children }: RowProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 py-4">
      <div className="min-w-0 flex-1 basis-64">
        <p className="text-sm font-medium">{text}</p>
        <p className="text-[13px] text-muted">{hint}</p>
      </div>
      {children}
    </div>
  );
}
