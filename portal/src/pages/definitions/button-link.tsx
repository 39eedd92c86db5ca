import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';

export interface ButtonLinkProps {
  readonly to: '/tenants/$tenantId/reactors/new' | '/tenants/$tenantId/proxies/new';
  readonly tenantId: string;
  readonly text: string;
}

/** Goes to where something new is made. */
export function ButtonLink({ to, tenantId, text }: ButtonLinkProps) {
  return (
    <Link
      to={to}
      params={{ tenantId }}
      className="inline-flex h-10 items-center justify-center gap-2 rounded-lg bg-accent px-4 text-sm font-medium text-on-accent hover:bg-accent-strong"
    >
      <Plus aria-hidden className="size-4" />
      {text}
    </Link>
  );
}
