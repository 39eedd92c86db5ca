import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.js';

const SHOWN_MS = 2_000;

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false);
  return (
    <Button
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setDone(true);
        setTimeout(() => setDone(false), SHOWN_MS);
      }}
    >
      {isDone ? <Check aria-hidden className="size-4 text-ok" /> : <Copy aria-hidden className="size-4" />}
      {isDone ? 'Copied' : label}
    </Button>
  );
}
