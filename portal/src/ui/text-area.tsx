import type { ComponentProps, ReactNode } from 'react';
import { classes } from './classes.js';
import { frameOf, Labelled } from './labelled.js';

export interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'id'> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly isCode?: boolean;
}

export function TextArea({ label, hint, error, isCode = false, className, ...rest }: TextAreaProps) {
  return (
    <Labelled label={label} hint={hint} error={error} className={className}>
      {(control) => (
        <textarea
          rows={6}
          spellCheck={!isCode}
          {...rest}
          {...control}
          className={classes(
            'w-full rounded-lg border bg-card px-3 py-2 placeholder:text-muted',
            isCode ? 'font-mono text-[13px]' : 'text-[15px]',
            frameOf(error),
          )}
        />
      )}
    </Labelled>
  );
}
