import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { KeySquare, ScrollText } from 'lucide-react';
import { ApiFault } from '../../api/fault.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { buttonClasses } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { DataNote } from './data-note.js';
import { tokenQuery } from './queries.js';
import { TokenFacts } from './token-facts.js';
import { TokenHistory } from './token-history.js';

/** One token: what stands beside its data, and what was done with it. */
export function TokenPage() {
  const { id: tenantId } = useTenant();
  const { tokenId = '' } = useParams({ strict: false });
  const query = useQuery(tokenQuery(tenantId, tokenId));
  const isUnknown = query.error instanceof ApiFault && query.error.status === 404;
  return (
    <>
      <PageHeader title={`Token ${tokenId}`} actions={<LogLink tenantId={tenantId} tokenId={tokenId} />} />
      {isUnknown ? (
        <EmptyState
          icon={KeySquare}
          title="There is no token with this id"
          action={
            <Link to="/tenants/$tenantId/tokens" params={{ tenantId }} className={buttonClasses()}>
              Search tokens
            </Link>
          }
        >
          It was deleted, it has expired, it belongs to another tenant, or it never was. What the log knows of the id is
          below.
        </EmptyState>
      ) : (
        <Loaded query={query}>
          {(token) => (
            <>
              <DataNote containers={token.containers} />
              <TokenFacts tenantId={tenantId} token={token} />
            </>
          )}
        </Loaded>
      )}
      {/* After the token, so that this look is in it. */}
      {!query.isPending && <TokenHistory tenantId={tenantId} tokenId={tokenId} />}
    </>
  );
}

function LogLink({ tenantId, tokenId }: { readonly tenantId: string; readonly tokenId: string }) {
  return (
    <Link
      to="/tenants/$tenantId/logs"
      params={{ tenantId }}
      search={{ entity_id: tokenId }}
      className={buttonClasses()}
    >
      <ScrollText aria-hidden className="size-4" />
      Open in Logs
    </Link>
  );
}
