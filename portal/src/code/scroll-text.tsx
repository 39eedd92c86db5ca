import type { ReactNode } from 'react';

/** Text that may be long: it scrolls by itself, also by keyboard. */
export function ScrollText({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and a keyboard has to reach that
      tabIndex={0}
      className="max-h-80 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-5 wrap-anywhere whitespace-pre-wrap"
    >
      {children}
    </section>
  );
}
