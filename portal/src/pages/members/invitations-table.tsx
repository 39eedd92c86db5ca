import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Mail } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Invitation } from '../../api/generated.js';
import { SIGN_IN_OPTIONS } from '../../session/sign-in-options.js';
import { useSteppedUp } from '../../session/step-up.js';
import { ROLES } from '../../tenant/roles.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { FormFault } from '../../ui/form.js';
import { Loaded } from '../../ui/loaded.js';
import { announce } from '../../ui/notices.js';
import { Pager } from '../../ui/pager.js';
import { When } from '../../ui/when.js';
import { LinkDialog } from './link-dialog.js';

const SHOWN_MAX = 20;

/** Who was asked and has not come yet. */
export function InvitationsTable() {
  const { id: tenantId, mayChange } = useTenant();
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const [link, setLink] = useState<string>();
  const [page, setPage] = useState(1);
  const invitations = useQuery({
    queryKey: ['tenant', tenantId, 'invitations', page],
    queryFn: ({ signal }) =>
      call('GET /tenants/self/invitations', { tenantId, query: { page, size: SHOWN_MAX }, signal }),
    placeholderData: keepPreviousData,
  });
  const reload = () => reloadTenant(tenantId, 'invitations');
  const resend = useSteppedUp(
    (id: string) => call('POST /tenants/self/invitations/{id}/resend', { tenantId, params: { id }, body: {} }),
    async (invitation) => {
      setLink(invitation.link);
      if (invitation.link === undefined) announce({ id: 'resent', tone: 'ok', text: 'The invitation is on its way.' });
      await reload();
    },
  );
  const revoke = useMutation({
    mutationFn: (id: string) => call('DELETE /tenants/self/invitations/{id}', { tenantId, params: { id } }),
    onSuccess: reload,
  });
  return (
    <section aria-labelledby="invitations" className="space-y-3">
      <h2 id="invitations" className="text-lg font-semibold tracking-tight">
        Invitations
      </h2>
      <FormFault error={resend.error ?? revoke.error} />
      <Loaded query={invitations}>
        {({ data, pagination }) =>
          pagination.total_items === 0 ? (
            <EmptyState icon={Mail} title="Nobody is invited at the moment">
              An invitation is good for three days.{' '}
              {options?.mail ? 'It goes by mail.' : 'This server sends no mail, so you get a link to pass on yourself.'}
            </EmptyState>
          ) : (
            <div className="space-y-3">
              <DataTable
                label="Invitations"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Address',
                    isHead: true,
                    cell: ({ email }) => <span className="font-medium break-all">{email}</span>,
                  },
                  { title: 'Role', cell: ({ role }) => <Badge>{ROLES[role]}</Badge> },
                  { title: 'State', cell: (invitation) => <State invitation={invitation} /> },
                  {
                    title: 'Acts',
                    isActs: true,
                    cell: ({ id, email }) =>
                      mayChange && (
                        <div className="flex gap-2">
                          <Button
                            look="quiet"
                            aria-label={`${options?.mail ? 'Send again' : 'New link'} for ${email}`}
                            isBusy={resend.isPending && resend.variables === id}
                            onClick={() => resend.mutate(id)}
                          >
                            {options?.mail ? 'Send again' : 'New link'}
                          </Button>
                          <Button
                            look="danger"
                            aria-label={`Revoke ${email}`}
                            isBusy={revoke.isPending && revoke.variables === id}
                            onClick={() => revoke.mutate(id)}
                          >
                            Revoke
                          </Button>
                        </div>
                      ),
                  },
                ]}
              />
              <Pager label="invitations" pagination={pagination} onPage={(next) => setPage(Number(next ?? 1))} />
            </div>
          )
        }
      </Loaded>
      {resend.dialog}
      <LinkDialog link={link} onClose={() => setLink(undefined)} />
    </section>
  );
}

function State({ invitation: { status, expires_at: at } }: { readonly invitation: Invitation }) {
  if (status === 'EXPIRED') return <Badge tone="warn">Expired</Badge>;
  return (
    <span className="text-muted">
      Until <When at={at} />
    </span>
  );
}
