import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { OffsetPagination } from '../../api/generated.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { pageNumberOf, useAddress } from '../../tenant/use-address.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { CodeLine } from '../../ui/code-line.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/pager.js';
import { ButtonLink } from './button-link.js';
import type { DefinitionKind } from './definition-kind.js';
import { LISTED_MAX, PLURALS, TITLES } from './definition-kind.js';
import { NameFilter } from './name-filter.js';

export interface ListAsked {
  readonly tenantId: string;
  readonly signal: AbortSignal;
  readonly query: { readonly page: number; readonly size: number; readonly name?: string };
}

export interface DefinitionListProps<Row> {
  readonly kind: DefinitionKind;
  readonly icon: LucideIcon;
  readonly lead: string;
  /** Keeps only what the list shows: answers have code and settings as well. */
  readonly load: (
    asked: ListAsked,
  ) => Promise<{ readonly rows: readonly Row[]; readonly pagination: OffsetPagination }>;
  /** Behind the name. */
  readonly columns: readonly Column<Row>[];
  /** Where there are none yet: what they are for, and a call to begin with. */
  readonly none: { readonly text: ReactNode; readonly call: string };
}

interface Listed {
  readonly id: string;
  readonly name: string;
}

/** The page with all Reactors, or all Proxies. */
export function DefinitionList<Row extends Listed>({
  kind,
  icon,
  lead,
  load,
  columns,
  none,
}: DefinitionListProps<Row>) {
  const { id: tenantId, mayChange } = useTenant();
  const { search, change } = useAddress();
  const [name, page, title] = [search.name ?? '', pageNumberOf(search.page), PLURALS[kind]];
  const query = useQuery({
    queryKey: ['tenant', tenantId, kind, 'list', name, page],
    queryFn: ({ signal }) =>
      load({ tenantId, signal, query: { page, size: LISTED_MAX, ...(name !== '' && { name }) } }),
  });
  const make = mayChange ? <NewLink kind={kind} /> : undefined;
  return (
    <>
      <PageHeader title={title} lead={lead} {...(make && { actions: make })} />
      <ReaderNote what={title} />
      <Loaded query={query}>
        {({ rows, pagination }) =>
          pagination.total_items === 0 && name === '' ? (
            <EmptyState icon={icon} title={`There are no ${title} yet`} {...(make && { action: make })}>
              <div className="space-y-4">
                <p>{none.text}</p>
                <div className="text-left">
                  <CodeLine text={none.call} />
                </div>
              </div>
            </EmptyState>
          ) : (
            <div className="space-y-4">
              <NameFilter key={name} name={name} onChange={(next) => change({ name: next, page: undefined })} />
              {rows.length === 0 ? (
                <EmptyState icon={icon} title={`No ${TITLES[kind]} has that name`}>
                  A name is matched as a whole. Write * for any text, as in Charge*.
                </EmptyState>
              ) : (
                <DataTable
                  label={title}
                  rows={rows}
                  keyOf={({ id }) => id}
                  columns={[
                    { title: 'Name', isHead: true, cell: (row) => <NameLink kind={kind} of={row} /> },
                    ...columns,
                  ]}
                />
              )}
              <Pager label={title} pagination={pagination} onPage={(next) => change({ page: next })} />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function NameLink({ kind, of: { id, name } }: { readonly kind: DefinitionKind; readonly of: Listed }) {
  const { id: tenantId } = useTenant();
  const className = 'font-medium text-accent wrap-anywhere underline-offset-4 hover:underline';
  return kind === 'reactors' ? (
    <Link to="/tenants/$tenantId/reactors/$reactorId" params={{ tenantId, reactorId: id }} className={className}>
      {name}
    </Link>
  ) : (
    <Link to="/tenants/$tenantId/proxies/$proxyId" params={{ tenantId, proxyId: id }} className={className}>
      {name}
    </Link>
  );
}

function NewLink({ kind }: { readonly kind: DefinitionKind }) {
  const { id: tenantId } = useTenant();
  return <ButtonLink to={`/tenants/$tenantId/${kind}/new`} tenantId={tenantId} text={`New ${TITLES[kind]}`} />;
}
