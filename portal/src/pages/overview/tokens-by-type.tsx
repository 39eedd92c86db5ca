import type { PortalOverview } from '../../api/generated.js';
import { useEntityTypes } from '../../tenant/entity-types.js';
import { LogLink } from '../../tenant/log-link.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { numberText } from '../../ui/numbers.js';
import { When } from '../../ui/when.js';

type TokensOfType = PortalOverview['tokens']['by_type'][number];

/** How many tokens there are now, with when the newest of each type was made. */
export function TokensByType({ types }: { readonly types: readonly TokensOfType[] }) {
  return (
    <section aria-labelledby="by-type" className="space-y-3">
      <h2 id="by-type" className="text-[15px] font-semibold">
        Tokens by type
      </h2>
      <TypesTable types={types} />
    </section>
  );
}

function TypesTable({ types }: { readonly types: readonly TokensOfType[] }) {
  const { nameOf } = useEntityTypes();
  const columns: readonly Column<TokensOfType>[] = [
    { title: 'Type', isHead: true, cell: ({ type }) => <span className="font-medium">{nameOf(type)}</span> },
    {
      title: 'Tokens',
      isFigure: true,
      cell: ({ type, count }) => (
        <LogLink
          search={{ entity_type: type, operation: 'create' }}
          label={`${nameOf(type)}: ${numberText(count)}, show when they were made`}
        >
          {numberText(count)}
        </LogLink>
      ),
    },
    {
      title: 'Last created',
      cell: ({ last_created_at: at }) => (at ? <When at={at} /> : <span className="text-muted">None yet</span>),
    },
  ];
  return <DataTable label="Tokens by type" columns={columns} rows={types} keyOf={({ type }) => type} />;
}
