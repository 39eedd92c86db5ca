import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Tenant } from '../../api/generated.js';
import { queryClient } from '../../api/query-client.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { CodeLine } from '../../ui/code-line.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { GiveAway } from './give-away.js';
import { Row } from './setting-row.js';

/** What cannot be taken back. */
export function DangerZone({ tenant }: { readonly tenant: Tenant }) {
  const { membership } = useTenant();
  if (!membership) return null;
  const isOwner = membership.role === 'OWNER';
  return (
    <section aria-labelledby="danger" className="rounded-xl border border-danger bg-card">
      <h2 id="danger" className="px-5 pt-5 text-[15px] font-semibold text-danger">
        Danger zone
      </h2>
      <div className="divide-y divide-line px-5">
        {isOwner ? (
          <>
            <GiveAway tenant={tenant} />
            <DeleteTenant tenant={tenant} />
          </>
        ) : (
          <LeaveTenant tenant={tenant} />
        )}
      </div>
    </section>
  );
}

/** Away from a tenant that is none of one's own any more. */
function useGone() {
  const navigate = useNavigate();
  return async (tenantId: string) => {
    await queryClient.invalidateQueries({ queryKey: ['me'] });
    await navigate({ to: '/tenants' });
    queryClient.removeQueries({ queryKey: ['tenant', tenantId] });
  };
}

function LeaveTenant({ tenant }: { readonly tenant: Tenant }) {
  const gone = useGone();
  const [isAsking, ask] = useState(false);
  const leave = useSteppedUp(
    () => call('DELETE /portal/api/memberships/{tenant_id}', { params: { tenant_id: tenant.id } }),
    () => gone(tenant.id),
  );
  return (
    <Row text="Leave this tenant" hint="You lose access at once. Somebody has to invite you to come back.">
      <Button look="danger" onClick={() => ask(true)}>
        Leave
      </Button>
      <ConfirmDialog
        isOpen={isAsking && !leave.isAsking}
        title={`Leave ${tenant.name}?`}
        lead="What you made stays. Your access ends at once."
        act="Leave"
        isBusy={leave.isPending}
        error={leave.error}
        onConfirm={() => leave.mutate(undefined)}
        onClose={() => ask(false)}
      />
      {leave.dialog}
    </Row>
  );
}

function DeleteTenant({ tenant }: { readonly tenant: Tenant }) {
  const gone = useGone();
  const [isAsking, ask] = useState(false);
  const remove = useSteppedUp(
    () => call('DELETE /tenants/self', { tenantId: tenant.id }),
    () => gone(tenant.id),
  );
  return (
    <Row text="Delete this tenant" hint="Its data keys are destroyed first, so nothing can be read again by anybody.">
      <Button look="danger" onClick={() => ask(true)}>
        Delete
      </Button>
      <ConfirmDialog
        isOpen={isAsking && !remove.isAsking}
        title={`Delete ${tenant.name}?`}
        lead="All tokens, Applications with their keys, Reactors, Proxies, members and settings go. Requests with its keys are refused at once. The log stays with the operator."
        act="Delete for good"
        typed={tenant.name}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
        onClose={() => ask(false)}
      >
        <Callout tone="warn" title="Export first">
          The operator of this server can write all tokens into files that only you can open:
        </Callout>
        <CodeLine text={`strongroom tokens export --tenant ${tenant.id} --out export --recipient <public key>`} />
      </ConfirmDialog>
      {remove.dialog}
    </Row>
  );
}
