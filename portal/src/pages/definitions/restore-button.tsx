import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useAddress } from '../../tenant/use-address.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { announce } from '../../ui/notices.js';
import type { DefinitionKind } from './definition-kind.js';
import { TITLES } from './definition-kind.js';

export interface RestoreButtonProps {
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly version: number;
}

export function RestoreButton({ kind, id, version }: RestoreButtonProps) {
  const { id: tenantId } = useTenant();
  const { change } = useAddress();
  const [isAsking, ask] = useState(false);
  const restore = useSteppedUp(
    async (given: number) => {
      const input = { tenantId, params: { id, version: String(given) } };
      if (kind === 'reactors') await call('POST /reactors/{id}/versions/{version}/restore', input);
      else await call('POST /proxies/{id}/versions/{version}/restore', input);
    },
    async () => {
      ask(false);
      await reloadTenant(tenantId, kind);
      change({ version: undefined, with: undefined });
      announce({ id: 'restored', tone: 'ok', text: `Version ${version} is in use again.` });
    },
  );
  return (
    <>
      <Button onClick={() => ask(true)}>
        <RotateCcw aria-hidden className="size-4" />
        Restore
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={`Restore version ${version}?`}
        lead={`All of the ${TITLES[kind]} becomes what it was: its name, code, configuration and Application. The next call runs it. What is stored now is kept as a version.`}
        act="Restore"
        isBusy={restore.isPending}
        error={restore.error}
        onConfirm={() => restore.mutate(version)}
        onClose={() => ask(false)}
      />
      {restore.dialog}
    </>
  );
}
