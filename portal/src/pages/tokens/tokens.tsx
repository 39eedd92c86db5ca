import type { UseQueryResult } from '@tanstack/react-query';
import { useQuery } from '@tanstack/react-query';
import { KeySquare } from 'lucide-react';
import { useState } from 'react';
import { curlLine } from '../../api/curl-line.js';
import { ApiFault } from '../../api/fault.js';
import type { PortalTokenList } from '../../api/generated.js';
import { useAddress } from '../../tenant/use-address.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { CodeLine } from '../../ui/code-line.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { OlderPager } from '../../ui/older-pager.js';
import { PageHeader } from '../../ui/page-header.js';
import { tokenSearchQuery } from './queries.js';
import { SearchBox } from './search-box.js';
import { readSearch } from './search-text.js';
import { TokenTable } from './token-table.js';

/** Tokens by id, type, container and metadata. */
export function TokensPage() {
  const { id: tenantId } = useTenant();
  const { search, change } = useAddress();
  const [refused, refuse] = useState<string>();
  const read = readSearch(search.q ?? '');
  const isAsked = search.q !== undefined || search.show === 'newest';
  const query = useQuery({
    ...tokenSearchQuery(tenantId, 'query' in read ? read.query : '', search.start),
    enabled: isAsked && 'query' in read,
  });
  const ask = (typed: string) => {
    const asked = readSearch(typed);
    refuse('fault' in asked ? asked.fault : undefined);
    if ('fault' in asked) return;
    const isSame = isAsked && asked.query === (search.q ?? '') && search.start === undefined;
    if (isSame) void query.refetch();
    else void change({ q: asked.query, show: asked.query === '' ? 'newest' : undefined, start: undefined });
  };
  const fault = refused ?? ('fault' in read ? read.fault : queryFault(query.error));
  return (
    <>
      <PageHeader
        title="Tokens"
        lead="Find a token, and see what was done with it. What it holds is never shown here."
      />
      <SearchBox key={search.q} asked={search.q ?? ''} fault={fault} isBusy={query.isFetching} onAsk={ask} />
      {!isAsked && <NothingAsked onNewest={() => ask('')} />}
      {isAsked && fault === undefined && (
        <Found query={query} isFirst={search.start === undefined} isNarrowed={search.q !== undefined} onGo={change} />
      )}
    </>
  );
}

function queryFault(error: unknown): string | undefined {
  if (!(error instanceof ApiFault) || error.code !== 'invalid_query') return undefined;
  return error.of('query') ?? error.message;
}

interface FoundProps {
  readonly query: UseQueryResult<PortalTokenList>;
  readonly isFirst: boolean;
  readonly isNarrowed: boolean;
  readonly onGo: (texts: { readonly start: string | undefined }) => void;
}

function Found({ query, isFirst, isNarrowed, onGo }: FoundProps) {
  const { id: tenantId } = useTenant();
  const newest = () => onGo({ start: undefined });
  if (query.error instanceof ApiFault && query.error.code === 'invalid_cursor') {
    return (
      <EmptyState icon={KeySquare} title="This page is gone" action={<Button onClick={newest}>To the newest</Button>}>
        The address names a place in the list that no longer holds, or that belongs to another search.
      </EmptyState>
    );
  }
  return (
    <Loaded query={query}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          <NothingFound isNarrowed={isNarrowed || !isFirst} />
        ) : (
          <div className="space-y-4">
            <TokenTable tenantId={tenantId} tokens={data} />
            <OlderPager label="tokens" isFirst={isFirst} next={pagination.next} onGo={(start) => onGo({ start })} />
          </div>
        )
      }
    </Loaded>
  );
}

function NothingAsked({ onNewest }: { readonly onNewest: () => void }) {
  return (
    <EmptyState
      icon={KeySquare}
      title="Which token are you looking for?"
      action={<Button onClick={onNewest}>Show the newest</Button>}
    >
      Paste an id, or search by type, container and metadata. Each token that is shown gets an entry in the log, under
      your name, and counts as active this month: so nothing is listed before you ask.
    </EmptyState>
  );
}

function NothingFound({ isNarrowed }: { readonly isNarrowed: boolean }) {
  if (isNarrowed) {
    return (
      <EmptyState icon={KeySquare} title="No token is like that">
        Ids are compared as a whole, with upper and lower case; metadata as a whole, without. Tokens that have expired
        or were deleted are not found: the log of their id is still there.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={KeySquare} title="No tokens yet">
      <p>A key with token:create makes them:</p>
      <div className="mt-4 text-left text-ink">
        <CodeLine
          text={curlLine({
            method: 'POST',
            path: '/tokens',
            body: { type: 'card', data: { number: '4242424242424242' }, metadata: { customer: 'c-17' } },
          })}
        />
      </div>
    </EmptyState>
  );
}
