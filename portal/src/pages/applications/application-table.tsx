import { Link } from '@tanstack/react-router';
import type { PortalApplication } from '../../api/generated.js';
import { Badge } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { When } from '../../ui/when.js';
import { TypeBadge } from './application-types.js';
import { shortPermissions } from './permission-words.js';

export interface ApplicationTableProps {
  readonly tenantId: string;
  readonly applications: readonly PortalApplication[];
}

export function ApplicationTable({ tenantId, applications }: ApplicationTableProps) {
  const columns: readonly Column<PortalApplication>[] = [
    {
      title: 'Application',
      isHead: true,
      cell: ({ id, name }) => (
        <Link
          to="/tenants/$tenantId/applications/$applicationId"
          params={{ tenantId, applicationId: id }}
          className="inline-block py-0.5 font-medium [overflow-wrap:anywhere] hover:text-accent hover:underline"
        >
          {name}
        </Link>
      ),
    },
    { title: 'Type', cell: ({ type }) => <TypeBadge type={type} /> },
    { title: 'May', cell: (application) => <Rights application={application} /> },
    { title: 'Last use', cell: ({ last_used_at: at }) => (at ? <When at={at} /> : <Muted>Never used</Muted>) },
    { title: 'Keys', cell: ({ key_count: count }) => (count === 0 ? <Badge tone="warn">No key</Badge> : count) },
    { title: 'Next end', cell: (application) => <End application={application} /> },
  ];
  return <DataTable label="Applications" columns={columns} rows={applications} keyOf={({ id }) => id} />;
}

function Muted({ children }: { readonly children: string }) {
  return <span className="text-muted">{children}</span>;
}

const LINES_SHOWN = 2;

function Rights({ application: { permissions, rules } }: { readonly application: PortalApplication }) {
  const lines = shortPermissions(permissions);
  const more = lines.slice(LINES_SHOWN);
  return (
    <div className="max-w-72 text-[13px] max-sm:text-right">
      {lines.slice(0, LINES_SHOWN).map((line) => (
        <p key={line}>{line}</p>
      ))}
      {more.length > 0 && (
        <p className="text-muted" title={more.join('\n')}>
          and {more.length} more
        </p>
      )}
      {rules.length > 0 && (
        <p className="[overflow-wrap:anywhere] text-muted">
          {rules.length === 1 ? 'Rule for ' : 'Rules for '}
          <span className="font-mono">{containersOf(rules)}</span>
        </p>
      )}
    </div>
  );
}

const CONTAINERS_SHOWN = 3;

function containersOf(rules: PortalApplication['rules']): string {
  const all = [...new Set(rules.map(({ container }) => container ?? ''))];
  return [...all.slice(0, CONTAINERS_SHOWN), ...(all.length > CONTAINERS_SHOWN ? ['…'] : [])].join(' ');
}

/** The end of a key while it is replaced, or of the Application itself. */
function End({ application }: { readonly application: PortalApplication }) {
  const { next_end_at: next, expires_at: end } = application;
  if (next === undefined) return <Muted>None</Muted>;
  return (
    <div className="max-sm:text-right">
      <When at={next} />
      <p className="text-[13px] text-muted">{next === end ? 'The Application' : 'A replaced key'}</p>
    </div>
  );
}
