import { Link } from '@tanstack/react-router';
import type { PortalToken } from '../../api/generated.js';
import { useActorNames } from '../../tenant/use-actor-names.js';
import { Card } from '../../ui/card.js';
import { Facts } from '../../ui/facts.js';
import { When } from '../../ui/when.js';
import { ContainerNames, TokenTypeBadge } from './token-types.js';

export interface TokenFactsProps {
  readonly tenantId: string;
  readonly token: PortalToken;
}

export function TokenFacts({ tenantId, token }: TokenFactsProps) {
  const { type, containers, metadata = {}, created_at: createdAt, created_by: creator } = token;
  const { modified_at: modifiedAt, modified_by: modifier, expires_at: end } = token;
  const pairs = Object.entries(metadata);
  const nameOf = useActorNames(
    tenantId,
    // Only keys make tokens.
    [creator, modifier].map((id) => ({ id, kind: 'application' })),
  );
  const by = (id: string | undefined) => id && <By tenantId={tenantId} id={id} name={nameOf(id)} />;
  return (
    <>
      <Facts
        facts={[
          { title: 'Type', value: <TokenTypeBadge type={type} /> },
          { title: 'Containers', value: <ContainerNames containers={containers} /> },
          { title: 'Expires', value: end ? <When at={end} /> : 'Never' },
          {
            title: 'Created',
            value: (
              <>
                <When at={createdAt} isExact /> {by(creator)}
              </>
            ),
          },
          {
            title: 'Changed',
            value: modifiedAt ? (
              <>
                <When at={modifiedAt} isExact /> {by(modifier)}
              </>
            ) : (
              'Never'
            ),
          },
        ]}
      />
      <Card
        title="Metadata"
        lead={pairs.length === 0 ? 'None.' : 'It is never masked, and every member of the tenant sees it.'}
      >
        {pairs.length > 0 && (
          <dl className="divide-y divide-line text-sm">
            {pairs.map(([name, value]) => (
              <div key={name} className="grid grid-cols-1 gap-x-6 gap-y-0.5 py-2 sm:grid-cols-[14rem_minmax(0,1fr)]">
                <dt className="text-muted [overflow-wrap:anywhere]">{name}</dt>
                <dd className="whitespace-pre-wrap [overflow-wrap:anywhere]">{value}</dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
    </>
  );
}

function By({
  tenantId,
  id,
  name,
}: {
  readonly tenantId: string;
  readonly id: string;
  readonly name: string | undefined;
}) {
  return (
    <Link
      to="/tenants/$tenantId/logs"
      params={{ tenantId }}
      search={{ actor_id: id }}
      className="block text-[13px] text-muted underline underline-offset-4 [overflow-wrap:anywhere] hover:text-accent"
    >
      by {name ?? id}
    </Link>
  );
}
