import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Log, LogList } from '../../api/generated.js';
import { OutcomeBadge } from '../../tenant/outcome-badge.js';
import { useActorNames } from '../../tenant/use-actor-names.js';
import { useAddress } from '../../tenant/use-address.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { Loaded } from '../../ui/loaded.js';
import { OlderPager } from '../../ui/older-pager.js';
import { When } from '../../ui/when.js';
import { tokenHistoryQuery } from './queries.js';

export interface TokenHistoryProps {
  readonly tenantId: string;
  readonly tokenId: string;
}

/** The log of one id: it outlives the token. */
export function TokenHistory({ tenantId, tokenId }: TokenHistoryProps) {
  const { search, change } = useAddress();
  const query = useQuery({
    ...tokenHistoryQuery(tenantId, tokenId, search.start),
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-labelledby="history" className="space-y-3">
      <h2 id="history" className="text-[15px] font-semibold">
        History
      </h2>
      <Loaded query={query}>
        {(list) => (
          <div className="space-y-4">
            <Entries tenantId={tenantId} list={list} />
            <OlderPager
              label="the history"
              isFirst={search.start === undefined}
              next={list.pagination.next}
              onGo={(start) => change({ start })}
            />
          </div>
        )}
      </Loaded>
    </section>
  );
}

function Entries({ tenantId, list }: { readonly tenantId: string; readonly list: LogList }) {
  const nameOf = useActorNames(
    tenantId,
    list.data.map(({ actor_id: id, actor_type: kind = '' }) => ({ id, kind })),
  );
  if (list.data.length === 0) return <p className="text-sm text-muted">The log has nothing about this id.</p>;
  const columns: readonly Column<Log>[] = [
    { title: 'Time', cell: ({ created_at: at }) => <When at={at} isExact /> },
    { title: 'What', cell: ({ message }) => message },
    { title: 'By', cell: (entry) => <Actor tenantId={tenantId} entry={entry} nameOf={nameOf} /> },
    { title: 'Outcome', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
    { title: 'Address', cell: ({ source_address: address }) => address ?? <span className="text-muted">None</span> },
  ];
  const keyOf = (entry: Log) => entry.id ?? `${entry.created_at} ${entry.operation}`;
  return <DataTable label="History" columns={columns} rows={list.data} keyOf={keyOf} />;
}

interface ActorProps {
  readonly tenantId: string;
  readonly entry: Log;
  readonly nameOf: (id: string) => string | undefined;
}

const KINDS: Readonly<Record<string, string>> = { application: 'Application', user: 'Person', session: 'Session' };

function Actor({ tenantId, entry: { actor_id: id, actor_type: kind }, nameOf }: ActorProps) {
  if (id === undefined) return <span className="text-muted">Strongroom itself</span>;
  return (
    <Link
      to="/tenants/$tenantId/logs"
      params={{ tenantId }}
      search={{ actor_id: id }}
      className="block [overflow-wrap:anywhere] hover:text-accent hover:underline max-sm:text-right"
    >
      <span className="block">{nameOf(id) ?? <span className="font-mono text-[13px]">{id}</span>}</span>
      <span className="block text-xs text-muted">{KINDS[kind ?? ''] ?? kind}</span>
    </Link>
  );
}
