import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Application } from '../../api/generated.js';
import { useActorNames } from '../../tenant/use-actor-names.js';
import { Facts } from '../../ui/facts.js';
import { When } from '../../ui/when.js';
import { TypeBadge } from './application-types.js';
import { applicationKeysQuery } from './queries.js';

export interface ApplicationFactsProps {
  readonly tenantId: string;
  readonly application: Application;
}

export function ApplicationFacts({ tenantId, application }: ApplicationFactsProps) {
  const { id, type, created_at: createdAt, created_by: creator, expires_at: end } = application;
  const { modified_at: modifiedAt, modified_by: modifier } = application;
  const { data: keys } = useQuery(applicationKeysQuery(tenantId, id));
  const nameOf = useActorNames(tenantId, [{ id: creator }, { id: modifier }]);
  const by = (actor: string | undefined) =>
    actor && <p className="text-[13px] text-muted [overflow-wrap:anywhere]">by {nameOf(actor) ?? actor}</p>;
  return (
    <Facts
      facts={[
        { title: 'Id', value: <span className="font-mono text-[13px] break-all">{id}</span> },
        { title: 'Type', value: <TypeBadge type={type} /> },
        { title: 'Last use', value: <LastUse times={keys?.map((key) => key.last_used_at)} /> },
        {
          title: 'Created',
          value: (
            <>
              <When at={createdAt} />
              {by(creator)}
            </>
          ),
        },
        {
          title: 'Changed',
          value: (
            <>
              {modifiedAt ? <When at={modifiedAt} /> : 'Never'}
              {by(modifier)}
              <Link
                to="/tenants/$tenantId/logs"
                params={{ tenantId }}
                search={{ entity_id: id }}
                className="block w-fit py-0.5 text-[13px] text-accent hover:underline"
              >
                All changes
              </Link>
            </>
          ),
        },
        { title: 'Ends', value: end ? <When at={end} /> : 'Never' },
      ]}
    />
  );
}

/** Of any of its keys, to the hour. */
function LastUse({ times }: { readonly times: readonly (string | undefined)[] | undefined }) {
  if (times === undefined) return '…';
  const last = times.map((at) => at ?? '').reduce((one, other) => (one > other ? one : other), '');
  return last === '' ? 'Never used' : <When at={last} />;
}
