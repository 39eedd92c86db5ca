import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { queryClient } from '../../api/query-client.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { announce } from '../../ui/notices.js';
import type { DefinitionKind } from './definition-kind.js';
import { TITLES } from './definition-kind.js';

export interface DeleteCardProps {
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly name: string;
  /** What goes with it. */
  readonly lead: string;
}

export function DeleteCard({ kind, id, name, lead }: DeleteCardProps) {
  const { id: tenantId } = useTenant();
  const navigate = useNavigate();
  const [isAsking, ask] = useState(false);
  const remove = useMutation({
    mutationFn: async () => {
      const input = { tenantId, params: { id } };
      if (kind === 'reactors') await call('DELETE /reactors/{id}', input);
      else await call('DELETE /proxies/{id}', input);
    },
    onSuccess: async () => {
      await navigate({ to: `/tenants/$tenantId/${kind}`, params: { tenantId }, ignoreBlocker: true });
      queryClient.removeQueries({ queryKey: ['tenant', tenantId, kind, id] });
      await reloadTenant(tenantId, kind);
      announce({ id: 'deleted', tone: 'ok', text: `The ${TITLES[kind]} is deleted.` });
    },
  });
  return (
    <Card
      title={`Delete this ${TITLES[kind]}`}
      lead={lead}
      action={
        <Button look="danger" onClick={() => ask(true)}>
          <Trash2 aria-hidden className="size-4" />
          Delete
        </Button>
      }
    >
      <ConfirmDialog
        isOpen={isAsking}
        title={`Delete ${name}?`}
        lead={`${lead} There is no way back.`}
        act={`Delete the ${TITLES[kind]}`}
        typed={name}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => ask(false)}
      />
    </Card>
  );
}
