import { useQuery } from '@tanstack/react-query';
import type { AccessRule, Application } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Badge } from '../../ui/badge.js';
import { Card } from '../../ui/card.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { groupedPermissions, partsOfPermission, resourceText } from './permission-words.js';
import { permissionsQuery } from './queries.js';
import { TRANSFORMS } from './transforms.js';

/** What it may do. */
export function RightsView({ application: { type, permissions, rules } }: { readonly application: Application }) {
  return (
    <div className="space-y-5">
      <Card
        title="Permissions"
        lead={
          permissions.length === 0
            ? 'None but those of its rules.'
            : type === 'private'
              ? 'In every container that no rule covers: masked data when it reads, plain data when it uses.'
              : undefined
        }
      >
        {permissions.length > 0 && <PermissionList permissions={permissions} />}
      </Card>
      {type !== 'management' && (
        <section className="space-y-3">
          <h2 className="text-[15px] font-semibold">Rules</h2>
          {rules.length === 0 ? (
            <p className="text-sm text-muted">None: its permissions hold in every container.</p>
          ) : (
            <RuleTable rules={rules} />
          )}
        </section>
      )}
    </div>
  );
}

function PermissionList({ permissions }: { readonly permissions: readonly string[] }) {
  const { id: tenantId } = useTenant();
  const { data: all } = useQuery(permissionsQuery(tenantId));
  return (
    <dl className="divide-y divide-line">
      {[...groupedPermissions(permissions, (name) => name)].map(([resource, names]) => (
        <div
          key={resource}
          className="grid gap-x-6 gap-y-2 py-3 first:pt-0 last:pb-0 sm:grid-cols-[8rem_minmax(0,1fr)]"
        >
          <dt className="text-sm font-medium">{resourceText(resource)}</dt>
          <dd>
            <ul className="grid gap-x-6 gap-y-2 sm:grid-cols-2 xl:grid-cols-3">
              {names.map((name) => (
                <li key={name}>
                  <p className="font-mono text-[13px]">{name}</p>
                  <p className="text-[13px] text-muted">{all?.find(({ type }) => type === name)?.description}</p>
                </li>
              ))}
            </ul>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const COLUMNS: readonly Column<AccessRule>[] = [
  { title: 'Priority', cell: ({ priority }) => priority },
  { title: 'Container', cell: ({ container }) => <span className="font-mono text-[13px] break-all">{container}</span> },
  {
    title: 'Shows',
    cell: ({ transform }) => <Badge tone={TRANSFORMS[transform].tone}>{TRANSFORMS[transform].text}</Badge>,
  },
  { title: 'For', cell: ({ permissions }) => permissions.map((name) => partsOfPermission(name).action).join(', ') },
  {
    title: 'Description',
    cell: ({ description }) => <span className="text-muted [overflow-wrap:anywhere]">{description || 'None'}</span>,
  },
];

function RuleTable({ rules }: { readonly rules: readonly AccessRule[] }) {
  return <DataTable label="Rules" columns={COLUMNS} rows={rules} keyOf={({ priority }) => String(priority)} />;
}
