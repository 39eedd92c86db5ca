import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classes } from '../ui/classes.js';
import { useTenant } from './use-tenant.js';

/** What narrows the log, as the address of its page has it. */
export interface LogSearch {
  readonly entity_type?: string;
  readonly entity_id?: string;
  readonly actor_id?: string;
  readonly operation?: string;
  readonly outcome?: string;
  readonly start_date?: string;
  readonly end_date?: string;
}

export interface LogLinkProps {
  readonly search: LogSearch;
  /** Where the text alone does not say what it leads to. */
  readonly label?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** From a figure to the entries behind it. */
export function LogLink({ search, label, className, children }: LogLinkProps) {
  const { id } = useTenant();
  return (
    <Link
      to="/tenants/$tenantId/logs"
      params={{ tenantId: id }}
      search={{ ...search }}
      {...(label !== undefined && { 'aria-label': label })}
      className={classes(
        'rounded underline decoration-line-strong underline-offset-4 hover:text-accent hover:decoration-accent',
        className,
      )}
    >
      {children}
    </Link>
  );
}
