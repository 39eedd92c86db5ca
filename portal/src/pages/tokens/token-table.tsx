import { Link } from '@tanstack/react-router';
import type { PortalToken } from '../../api/generated.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { When } from '../../ui/when.js';
import { ContainerNames, TokenTypeBadge } from './token-types.js';

export interface TokenTableProps {
  readonly tenantId: string;
  readonly tokens: readonly PortalToken[];
}

export function TokenTable({ tenantId, tokens }: TokenTableProps) {
  const columns: readonly Column<PortalToken>[] = [
    {
      title: 'Token',
      isHead: true,
      cell: ({ id }) => (
        <Link
          to="/tenants/$tenantId/tokens/$tokenId"
          params={{ tenantId, tokenId: id }}
          className="inline-block py-0.5 font-mono text-[13px] [overflow-wrap:anywhere] hover:text-accent hover:underline"
        >
          {id}
        </Link>
      ),
    },
    { title: 'Type', cell: ({ type }) => <TokenTypeBadge type={type} /> },
    { title: 'Containers', cell: ({ containers }) => <ContainerNames containers={containers} /> },
    { title: 'Metadata', cell: ({ metadata }) => <FirstMetadata metadata={metadata} /> },
    { title: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
  ];
  return <DataTable label="Tokens" columns={columns} rows={tokens} keyOf={({ id }) => id} />;
}

const PAIRS_SHOWN = 2;

function FirstMetadata({ metadata }: { readonly metadata: PortalToken['metadata'] }) {
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length === 0) return <span className="text-muted">None</span>;
  return (
    <ul className="max-w-64 text-[13px] max-sm:text-right">
      {pairs.slice(0, PAIRS_SHOWN).map(([name, value]) => (
        <li key={name} className="truncate" title={`${name}: ${value}`}>
          <span className="text-muted">{name}</span> {value}
        </li>
      ))}
      {pairs.length > PAIRS_SHOWN && <li className="text-muted">and {pairs.length - PAIRS_SHOWN} more</li>}
    </ul>
  );
}
