import { LoaderCircle } from 'lucide-react';
import type { ComponentProps } from 'react';
import { classes } from './classes.js';

const LOOKS = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  plain: 'bg-card text-ink border-line-strong hover:bg-sunken',
  quiet: 'bg-transparent text-ink border-transparent hover:bg-sunken',
  danger: 'bg-card text-danger border-danger hover:bg-danger-soft',
} as const;

export type ButtonLook = keyof typeof LOOKS;

/** For a link that stands where a button would. */
export function buttonClasses(look: ButtonLook = 'plain'): string {
  return classes(
    'inline-flex h-10 items-center justify-center gap-2 rounded-lg border px-4 text-sm font-medium transition-colors',
    'disabled:opacity-60',
    LOOKS[look],
  );
}

export interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: ButtonLook;
  readonly isBusy?: boolean;
  readonly isWide?: boolean;
}

export function Button({ look = 'plain', isBusy = false, isWide = false, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || isBusy}
      aria-busy={isBusy}
      className={classes(buttonClasses(look), isWide && 'w-full', className)}
    >
      {isBusy && <LoaderCircle aria-hidden className="size-4 animate-spin" />}
      {children}
    </button>
  );
}
