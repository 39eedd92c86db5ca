import { Eye, EyeOff } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { useState } from 'react';
import { classes } from './classes.js';
import { frameOf, Labelled } from './labelled.js';

export interface FieldProps extends Omit<ComponentProps<'input'>, 'id'> {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What the server or the form finds wrong. */
  readonly error?: string | undefined;
}

/** A labelled input, with its hint and what is wrong with it read out together. */
export function Field({ label, hint, error, className, ...rest }: FieldProps) {
  const [isShown, show] = useState(false);
  const isPassword = rest.type === 'password';
  return (
    <Labelled label={label} hint={hint} error={error} className={className}>
      {(control) => (
        <div className="relative">
          <input
            {...rest}
            {...control}
            type={isPassword && isShown ? 'text' : (rest.type ?? 'text')}
            className={classes(
              'h-10 w-full rounded-lg border bg-card px-3 text-[15px] placeholder:text-muted',
              frameOf(error),
              isPassword && 'pr-11',
            )}
          />
          {isPassword && (
            <button
              type="button"
              onClick={() => show(!isShown)}
              aria-label={isShown ? `Hide ${label.toLowerCase()}` : `Show ${label.toLowerCase()}`}
              className="absolute inset-y-0 right-0 flex w-10 items-center justify-center rounded-r-lg text-muted hover:text-ink"
            >
              {isShown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
            </button>
          )}
        </div>
      )}
    </Labelled>
  );
}
