import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { APPLICATIONS_PART } from './queries.js';

export interface RevokeKeyProps {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly isLast: boolean;
}

export function RevokeKey({ tenantId, applicationId, keyId, isLast }: RevokeKeyProps) {
  const [isAsking, ask] = useState(false);
  const revoke = useSteppedUp(
    () => call('DELETE /applications/{id}/keys/{key_id}', { tenantId, params: { id: applicationId, key_id: keyId } }),
    async () => {
      ask(false);
      await reloadTenant(tenantId, APPLICATIONS_PART);
    },
  );
  return (
    <>
      <Button look="danger" aria-label={`Revoke ${keyId}`} onClick={() => ask(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title="Revoke this key?"
        lead={
          isLast
            ? 'It is the last one: the Application cannot call the API until it has another. What uses the key stops at once.'
            : 'What uses it stops at once. It cannot be brought back.'
        }
        act="Revoke the key"
        isBusy={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate(undefined)}
        onClose={() => ask(false)}
      >
        <p className="font-mono text-[13px] break-all">{keyId}</p>
        {revoke.dialog}
      </ConfirmDialog>
    </>
  );
}
