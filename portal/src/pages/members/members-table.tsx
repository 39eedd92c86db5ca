import { useQuery } from '@tanstack/react-query';
import { ShieldAlert, ShieldCheck, UserRound } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { PortalMember } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useMe } from '../../session/use-me.js';
import { nameOf } from '../../tenant/name-of.js';
import type { GivenRole } from '../../tenant/roles.js';
import { ROLES } from '../../tenant/roles.js';
import { pageNumberOf, useAddress } from '../../tenant/use-address.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Badge } from '../../ui/badge.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { DataTable } from '../../ui/data-table.js';
import { FormFault } from '../../ui/form.js';
import { Loaded } from '../../ui/loaded.js';
import { Pager } from '../../ui/pager.js';
import { When } from '../../ui/when.js';
import { MemberActions } from './member-actions.js';

const SIZE = 20;

export function MembersTable() {
  const { id: tenantId, mayChange } = useTenant();
  const { data: me } = useMe();
  const { search, change: show } = useAddress();
  const page = pageNumberOf(search.page);
  const [removing, setRemoving] = useState<PortalMember>();
  const members = useQuery({
    queryKey: ['tenant', tenantId, 'members', page],
    queryFn: ({ signal }) =>
      call('GET /portal/api/tenants/{tenant_id}/members', {
        params: { tenant_id: tenantId },
        query: { page, size: SIZE },
        signal,
      }),
  });
  const reload = () => reloadTenant(tenantId, 'members');
  const change = useSteppedUp(
    ({ id, role }: { readonly id: string; readonly role: GivenRole }) =>
      call('PUT /tenants/self/members/{id}', { tenantId, params: { id }, body: { role } }),
    async () => reload(),
  );
  const remove = useSteppedUp(
    (id: string) => call('DELETE /tenants/self/members/{id}', { tenantId, params: { id } }),
    async () => {
      setRemoving(undefined);
      await reload();
    },
  );
  const isOwn = (member: PortalMember) => member.user.id === me?.user.id;
  return (
    <section aria-label="Members" className="space-y-3">
      <FormFault error={change.error} />
      <Loaded query={members}>
        {({ data, pagination }) => (
          <>
            <DataTable
              label="Members"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Person', isHead: true, cell: (member) => <Person member={member} isOwn={isOwn(member)} /> },
                {
                  title: 'Role',
                  cell: ({ role }) => <Badge tone={role === 'OWNER' ? 'accent' : 'plain'}>{ROLES[role]}</Badge>,
                },
                { title: 'Second factor', cell: (member) => <SecondFactor isSet={member.has_second_factor} /> },
                {
                  title: 'Last seen',
                  cell: ({ seen_at: at }) => (at ? <When at={at} /> : <span className="text-muted">Never here</span>),
                },
                { title: 'Since', cell: ({ created_at: at }) => <When at={at} /> },
                {
                  title: 'Acts',
                  isActs: true,
                  cell: (member) =>
                    mayChange && member.role !== 'OWNER' && !isOwn(member) ? (
                      <MemberActions
                        member={member}
                        onRole={(role) => change.mutate({ id: member.id, role })}
                        onRemove={() => setRemoving(member)}
                      />
                    ) : null,
                },
              ]}
            />
            <Pager label="members" pagination={pagination} onPage={(next) => show({ page: next })} />
          </>
        )}
      </Loaded>
      <ConfirmDialog
        isOpen={removing !== undefined}
        title={`Remove ${removing ? nameOf(removing.user) : ''}?`}
        lead="Access ends at once. What this person made stays: keys that it has seen should be rotated."
        act="Remove"
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => removing && remove.mutate(removing.id)}
        onClose={() => setRemoving(undefined)}
      />
      {change.dialog}
      {remove.dialog}
    </section>
  );
}

function Person({ member: { user }, isOwn }: { readonly member: PortalMember; readonly isOwn: boolean }) {
  const name = nameOf(user);
  return (
    <div className="flex min-w-0 items-center gap-3">
      <span className="rounded-full bg-sunken p-2 text-muted">
        <UserRound aria-hidden className="size-4" />
      </span>
      <div className="min-w-0">
        <p className="truncate font-medium">
          {name} {isOwn && <span className="font-normal text-muted">(you)</span>}
        </p>
        {user.email && name !== user.email && <p className="truncate text-[13px] text-muted">{user.email}</p>}
      </div>
    </div>
  );
}

function SecondFactor({ isSet }: { readonly isSet: boolean }) {
  return isSet ? (
    <Badge tone="ok">
      <ShieldCheck aria-hidden className="size-3.5" />
      Set up
    </Badge>
  ) : (
    <Badge tone="warn">
      <ShieldAlert aria-hidden className="size-3.5" />
      None
    </Badge>
  );
}
