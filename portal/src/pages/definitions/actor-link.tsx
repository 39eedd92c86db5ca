import { Link } from '@tanstack/react-router';
import { useTenant } from '../../tenant/use-tenant.js';

const SHOWN_LETTERS = 8;

/** Who did something, with what else it did. */
export function ActorLink({ id }: { readonly id: string | undefined }) {
  const { id: tenantId } = useTenant();
  if (id === undefined) return 'somebody unknown';
  return (
    <Link
      to="/tenants/$tenantId/logs"
      params={{ tenantId }}
      search={{ actor_id: id }}
      title={id}
      className="font-mono text-[13px] text-accent underline underline-offset-4"
    >
      {id.slice(0, SHOWN_LETTERS)}
    </Link>
  );
}
