import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Application } from '../../api/generated.js';
import { queryClient } from '../../api/query-client.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { announce } from '../../ui/notices.js';
import { APPLICATIONS_PART, applicationKeysQuery, applicationQuery } from './queries.js';

export interface DeleteApplicationProps {
  readonly tenantId: string;
  readonly application: Application;
}

export function DeleteApplication({ tenantId, application: { id, name } }: DeleteApplicationProps) {
  const navigate = useNavigate();
  const [isAsking, ask] = useState(false);
  const remove = useSteppedUp(
    () => call('DELETE /applications/{id}', { tenantId, params: { id } }),
    async () => {
      await navigate({ to: '/tenants/$tenantId/applications', params: { tenantId } });
      announce({ id: 'application-deleted', tone: 'ok', text: 'The Application is deleted. Its keys have ended.' });
      queryClient.removeQueries({ queryKey: applicationQuery(tenantId, id).queryKey });
      queryClient.removeQueries({ queryKey: applicationKeysQuery(tenantId, id).queryKey });
      await reloadTenant(tenantId, APPLICATIONS_PART);
    },
  );
  return (
    <>
      <Button look="danger" onClick={() => ask(true)}>
        <Trash2 aria-hidden className="size-4" />
        Delete
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title="Delete this Application?"
        lead="Its keys, and the sessions it made or let in, end at once. Reactors and Proxies that name it go on without it. Its log stays."
        act="Delete the application"
        typed={name}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
        onClose={() => ask(false)}
      >
        {remove.dialog}
      </ConfirmDialog>
    </>
  );
}
