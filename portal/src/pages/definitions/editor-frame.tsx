import type { ReactNode } from 'react';
import { classes } from '../../ui/classes.js';

/** A form, and where there is something to try with it, that beside it. */
export function EditorFrame({ form, beside }: { readonly form: ReactNode; readonly beside: ReactNode }) {
  return (
    <div className={classes('grid items-start gap-6', beside !== null && 'xl:grid-cols-[minmax(0,1fr)_24rem]')}>
      <div className="space-y-5 rounded-xl border border-line bg-card p-5">{form}</div>
      {beside}
    </div>
  );
}
