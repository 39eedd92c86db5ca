import type { ReactNode } from 'react';
import { ApiFault } from '../api/fault.js';
import { Callout } from './callout.js';
import { useCountdown } from './use-countdown.js';

export interface FormProps {
  readonly onSubmit: (values: Readonly<Record<string, string>>) => void;
  readonly children: ReactNode;
}

/** A form whose texts are read when it is sent. */
export function Form({ onSubmit, children }: FormProps) {
  return (
    <form
      noValidate
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        const entries = [...new FormData(event.currentTarget)];
        onSubmit(Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : ''])));
      }}
    >
      {children}
    </form>
  );
}

/** What is wrong with one field of what was sent. */
export function faultOfField(error: unknown, field: string): string | undefined {
  return error instanceof ApiFault ? error.of(field) : undefined;
}

/** What is wrong beside the fields that the form shows. */
export function FormFault({ error, fields = [] }: { readonly error: unknown; readonly fields?: readonly string[] }) {
  const left = useCountdown(error instanceof ApiFault ? error.retryAfterSeconds : undefined, error);
  if (!error || (error instanceof ApiFault && error.isLimit)) return null;
  const text = error instanceof ApiFault ? error.besides(fields) : 'Something went wrong. Try again.';
  if (!text) return null;
  return (
    <Callout tone="danger">
      {text} {left !== undefined && left > 0 && <span aria-hidden>{left} s left.</span>}
    </Callout>
  );
}
