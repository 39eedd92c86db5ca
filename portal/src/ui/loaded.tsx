import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { ApiFault } from '../api/fault.js';
import { LIMIT_SECONDS } from '../api/query-client.js';
import { Button } from './button.js';
import { Callout } from './callout.js';

export interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** What a query brought; before that the room it will take, and after a failure what went wrong. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error === null) return <Skeleton />;
  if (query.error instanceof ApiFault && query.error.isLimit) return <Waiting query={query} fault={query.error} />;
  return (
    <div className="space-y-3">
      <Callout tone="danger">{query.error instanceof ApiFault ? query.error.message : 'Something went wrong.'}</Callout>
      <Button onClick={() => query.refetch()}>Try again</Button>
    </div>
  );
}

/** The limit is told once for the whole page; what it held back comes by itself. */
function Waiting({ query: { refetch }, fault }: { readonly query: UseQueryResult; readonly fault: ApiFault }) {
  useEffect(() => {
    const timer = setTimeout(() => void refetch(), (fault.retryAfterSeconds ?? LIMIT_SECONDS) * 1_000);
    return () => clearTimeout(timer);
  }, [refetch, fault]);
  return <Skeleton />;
}

export function Skeleton() {
  return (
    <div role="status" aria-label="Loading" className="animate-pulse space-y-3 motion-reduce:animate-none">
      <div className="h-10 rounded-lg bg-line" />
      <div className="h-24 rounded-lg bg-line" />
      <div className="h-24 rounded-lg bg-line" />
    </div>
  );
}
