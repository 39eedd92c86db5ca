import type { ComponentProps, ReactNode } from 'react';
import { useId } from 'react';
import { classes } from './classes.js';

export interface CheckboxProps extends Omit<ComponentProps<'input'>, 'id' | 'type'> {
  readonly label: ReactNode;
  /** What it does, or why it cannot be chosen. */
  readonly hint?: ReactNode;
  readonly kind?: 'checkbox' | 'radio';
}

/** A choice with what it means beside it. */
export function Checkbox({ label, hint, kind = 'checkbox', className, ...rest }: CheckboxProps) {
  const id = useId();
  return (
    <div className={classes('flex items-start gap-3', className)}>
      <input
        {...rest}
        id={id}
        type={kind}
        {...(hint !== undefined && { 'aria-describedby': `${id}-hint` })}
        className="mt-0.5 size-4 shrink-0 accent-accent disabled:opacity-50"
      />
      <div className="min-w-0">
        <label htmlFor={id} className={classes('text-sm font-medium', rest.disabled && 'text-muted')}>
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-[13px] text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
