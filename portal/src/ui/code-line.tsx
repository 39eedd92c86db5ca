import { CopyButton } from './copy-button.js';

/** A command or an id to be copied. */
export function CodeLine({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  return (
    <div className="flex items-start gap-2 rounded-lg max-sm:flex-col border border-line bg-sunken p-2 pl-3">
      <pre className="min-w-0 flex-1 py-1.5 font-mono text-[13px] leading-5 wrap-anywhere whitespace-pre-wrap">
        {text}
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
