import { Search } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';

const EXAMPLES = [
  ['id:9b1c2f7e-26a0-4c39-8a33-0d1f4c1f5a11', 'One token, by its whole id. An id alone does as well.'],
  ['type:card', 'Of a type: token, card, bank, card_number, social_security_number and so on.'],
  ['container:/pci/', 'In a container, or below it.'],
  ['metadata.customer:c-17', 'By metadata, in upper or lower case. Quote what has spaces: "c 17".'],
  ['type:card AND NOT container:/pci/high/', 'Together, with AND, OR, NOT and parentheses.'],
] as const;

export interface SearchBoxProps {
  /** What the address asks for. */
  readonly asked: string;
  readonly fault: string | undefined;
  readonly isBusy: boolean;
  readonly onAsk: (typed: string) => void;
}

export function SearchBox({ asked, fault, isBusy, onAsk }: SearchBoxProps) {
  const [text, setText] = useState(asked);
  return (
    <div className="space-y-3 rounded-xl border border-line bg-card p-4">
      <search>
        <form
          noValidate
          className="flex flex-wrap items-start gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            onAsk(text);
          }}
        >
          <Field
            label="Id or search"
            className="min-w-0 flex-1 basis-64"
            placeholder="An id, type:card, metadata.customer:c-17"
            autoComplete="off"
            spellCheck={false}
            value={text}
            error={fault}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" look="primary" isBusy={isBusy} className="sm:mt-6.5 max-sm:w-full">
            <Search aria-hidden className="size-4" />
            Search
          </Button>
        </form>
      </search>
      <details>
        <summary className="w-fit cursor-pointer py-0.5 text-sm text-muted hover:text-ink">How to search</summary>
        <dl className="mt-3 space-y-3 text-sm">
          {EXAMPLES.map(([example, meaning]) => (
            <div key={example} className="grid gap-x-4 gap-y-0.5 md:grid-cols-[22rem_minmax(0,1fr)]">
              <dt>
                <button
                  type="button"
                  onClick={() => setText(example)}
                  className="min-h-6 text-left font-mono text-[13px] break-all text-accent hover:underline"
                >
                  {example}
                </button>
              </dt>
              <dd className="text-[13px] text-muted">{meaning}</dd>
            </div>
          ))}
        </dl>
        <p className="mt-3 text-[13px] text-muted">
          Data and fingerprints are not searched: to look for a value is a way to read it.
        </p>
      </details>
    </div>
  );
}
