import { Link } from '@tanstack/react-router';
import { useTenant } from '../../tenant/use-tenant.js';
import { Callout } from '../../ui/callout.js';

/** Where the data is not, and who can get at it all the same. */
export function DataNote({ containers }: { readonly containers: readonly string[] }) {
  const { id: tenantId, mayChange } = useTenant();
  return (
    <Callout tone="info" title="What the token holds is not shown here">
      <p>
        The Portal shows no data, mask or fingerprint of a token. Whoever may create Applications can grant it to a key:
        a private Application with a rule that shows plain data in{' '}
        <span className="font-mono text-[13px] break-all">{containers[0] ?? 'its container'}</span>. That is in the log
        as well.
      </p>
      {mayChange && (
        <Link
          to="/tenants/$tenantId/applications/new"
          params={{ tenantId }}
          search={{ type: 'private', permissions: 'token:read' }}
          className="mt-1 inline-block font-medium text-accent underline underline-offset-4"
        >
          Create an Application that reads tokens
        </Link>
      )}
    </Callout>
  );
}
