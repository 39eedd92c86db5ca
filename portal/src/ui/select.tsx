import { ChevronDown } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { classes } from './classes.js';
import { frameOf, Labelled } from './labelled.js';

export interface SelectProps extends Omit<ComponentProps<'select'>, 'id'> {
  readonly label: string;
  /** Only read out. */
  readonly isLabelHidden?: boolean;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly options: readonly { readonly value: string; readonly text: string; readonly disabled?: boolean }[];
}

/** One of several: the browser's own list, which works on every screen and with every keyboard. */
export function Select({ label, isLabelHidden = false, hint, error, options, className, ...rest }: SelectProps) {
  return (
    <Labelled label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} className={className}>
      {(control) => (
        <div className="relative">
          <select
            {...rest}
            {...control}
            className={classes(
              'h-10 w-full appearance-none rounded-lg border bg-card pr-9 pl-3 text-sm text-ink',
              frameOf(error),
            )}
          >
            {options.map(({ value, text, disabled }) => (
              <option key={value} value={value} disabled={disabled}>
                {text}
              </option>
            ))}
          </select>
          <ChevronDown aria-hidden className="pointer-events-none absolute top-3 right-3 size-4 text-muted" />
        </div>
      )}
    </Labelled>
  );
}
