import { Search } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';

export interface NameFilterProps {
  /** As the address has it. */
  readonly name: string;
  readonly onChange: (name: string) => void;
}

/** Narrows a list to names; `*` stands for any text. */
export function NameFilter({ name, onChange }: NameFilterProps) {
  const [text, setText] = useState(name);
  return (
    <search>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onChange(text.trim());
        }}
      >
        <Field
          label="Search by name"
          className="min-w-0 flex-1 sm:max-w-xs"
          placeholder="Charge*"
          value={text}
          onChange={(event) => setText(event.target.value)}
          autoComplete="off"
        />
        <Button type="submit" aria-label="Search">
          <Search aria-hidden className="size-4" />
        </Button>
        {name !== '' && (
          <Button
            look="quiet"
            onClick={() => {
              setText('');
              onChange('');
            }}
          >
            Clear
          </Button>
        )}
      </form>
    </search>
  );
}
