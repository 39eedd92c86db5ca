import { CopyButton } from './copy-button.js';

export interface CodeBlockProps {
  /** What it is, above it. */
  readonly title: string;
  readonly text: string;
}

/** Several lines to be copied. */
export function CodeBlock({ title, text }: CodeBlockProps) {
  return (
    <figure className="overflow-hidden rounded-xl border border-line bg-card">
      <figcaption className="flex items-center justify-between gap-3 border-b border-line py-2 pr-2 pl-4 text-[13px] font-medium text-muted">
        {title}
        <CopyButton text={text} />
      </figcaption>
      <pre className="bg-sunken p-4 font-mono text-[13px] leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {text}
      </pre>
    </figure>
  );
}
