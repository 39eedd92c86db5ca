import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useTenant } from '../../tenant/use-tenant.js';
import type { DefinitionKind } from './definition-kind.js';
import { PLURALS } from './definition-kind.js';

export function BackLink({ kind }: { readonly kind: DefinitionKind }) {
  const { id: tenantId } = useTenant();
  return (
    <Link
      to={`/tenants/$tenantId/${kind}`}
      params={{ tenantId }}
      className="mb-2 inline-flex min-h-6 items-center gap-1 text-sm text-muted hover:text-ink"
    >
      <ChevronLeft aria-hidden className="size-4" />
      {PLURALS[kind]}
    </Link>
  );
}
