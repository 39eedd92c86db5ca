import type { ReactNode } from 'react';
import { useId } from 'react';
import { classes } from './classes.js';

/** What ties a control to its label, its hint and what is wrong with it. */
export interface LabelledControl {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby'?: string;
}

export interface LabelledProps {
  readonly label: string;
  /** Only read out. */
  readonly isLabelHidden?: boolean;
  readonly hint?: ReactNode;
  /** What the server or the form finds wrong. */
  readonly error?: string | undefined;
  readonly className?: string | undefined;
  readonly children: (control: LabelledControl) => ReactNode;
}

/** A control with its label above and its hint and fault below, read out together. */
export function Labelled({ label, isLabelHidden = false, hint, error, className, children }: LabelledProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={classes('space-y-1.5', className)}>
      <label htmlFor={id} className={classes('block text-sm font-medium break-words', isLabelHidden && 'sr-only')}>
        {label}
      </label>
      {children({ id, 'aria-invalid': error !== undefined, ...(described && { 'aria-describedby': described }) })}
      {hint && (
        <p id={`${id}-hint`} className="text-[13px] text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-[13px] text-danger">
          {error}
        </p>
      )}
    </div>
  );
}

/** The line around a control. */
export function frameOf(error: string | undefined): string {
  return error === undefined ? 'border-line-strong' : 'border-danger';
}
