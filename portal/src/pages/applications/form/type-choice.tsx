import { useId } from 'react';
import { classes } from '../../../ui/classes.js';
import type { ApplicationType } from '../application-types.js';
import { APPLICATION_TYPES, TYPE_NAMES } from '../application-types.js';

export interface TypeChoiceProps {
  readonly value: ApplicationType | undefined;
  readonly onChange: (type: ApplicationType) => void;
}

/** First of all: where it will run decides what it can hold. */
export function TypeChoice({ value, onChange }: TypeChoiceProps) {
  const id = useId();
  return (
    <fieldset className="min-w-0 space-y-3">
      <legend className="text-[15px] font-semibold">Where will it run?</legend>
      <div className="grid gap-3 md:grid-cols-3">
        {TYPE_NAMES.map((name) => {
          const { text, icon: Icon, lead, more } = APPLICATION_TYPES[name];
          return (
            <label
              key={name}
              className={classes(
                'relative flex cursor-pointer flex-col gap-2 rounded-xl border bg-card p-4 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
                value === name ? 'border-accent ring-1 ring-accent' : 'border-line-strong hover:border-accent',
              )}
            >
              <span className="flex items-center gap-2.5">
                <span className="rounded-lg bg-accent-soft p-2 text-accent">
                  <Icon aria-hidden className="size-4" />
                </span>
                <span className="flex-1 font-medium">{text}</span>
                <input
                  type="radio"
                  name={`${id}-type`}
                  value={name}
                  checked={value === name}
                  onChange={() => onChange(name)}
                  aria-describedby={`${id}-${name}`}
                  className="size-4 accent-accent outline-none"
                />
              </span>
              <span id={`${id}-${name}`} className="text-[13px] text-muted">
                {lead} {more}
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
