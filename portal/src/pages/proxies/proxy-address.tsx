import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Proxy as StoredProxy } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { CodeLine } from '../../ui/code-line.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { announce } from '../../ui/notices.js';
import { DeleteCard } from '../definitions/delete-card.js';
import { OwnLogLink } from '../definitions/own-log-link.js';
import { proxyCall } from './proxy-call.js';

/** How a Proxy is called, and how it gets another address or goes. */
export function ProxyAddress({ proxy }: { readonly proxy: StoredProxy }) {
  const { mayChange } = useTenant();
  const { id, name, key } = proxy;
  return (
    <div className="space-y-6">
      <Card
        title="Call it"
        lead={
          proxy.require_auth
            ? 'Its key names the Proxy; the API key of a private Application with token:use says who asks.'
            : 'Its key is all a caller needs: whoever knows it can have requests sent.'
        }
      >
        <div className="space-y-3">
          <CodeLine text={proxyCall(proxy)} />
          <CodeLine text={key} label="Copy the key" />
          <CodeLine text={id} label="Copy the id" />
          {!mayChange && <p className="text-[13px] text-muted">The key is hidden from members who can only read.</p>}
          <OwnLogLink id={id} />
        </div>
      </Card>
      {mayChange && <NewKeyCard proxy={proxy} />}
      {mayChange && (
        <DeleteCard
          kind="proxies"
          id={id}
          name={name}
          lead="Calls with its key are refused from then on. Its versions go with it."
        />
      )}
    </div>
  );
}

function NewKeyCard({ proxy: { id } }: { readonly proxy: StoredProxy }) {
  const { id: tenantId } = useTenant();
  const [isAsking, ask] = useState(false);
  const renew = useSteppedUp(
    async (proxyId: string) => {
      await call('POST /proxies/{id}/regenerate', { tenantId, params: { id: proxyId } });
    },
    async () => {
      ask(false);
      await reloadTenant(tenantId, 'proxies');
      announce({ id: 'renewed', tone: 'ok', text: 'The Proxy has a new key. The one before is unknown now.' });
    },
  );
  return (
    <Card
      title="Another key"
      lead="Replaces the current key, for instance where it got into the wrong hands."
      action={
        <Button look="danger" onClick={() => ask(true)}>
          <RefreshCw aria-hidden className="size-4" />
          Make a new key
        </Button>
      }
    >
      <ConfirmDialog
        isOpen={isAsking}
        title="Make a new key?"
        lead="The current key stops working at once. Every caller needs the new one."
        act="Replace the key"
        isBusy={renew.isPending}
        error={renew.error}
        onConfirm={() => renew.mutate(id)}
        onClose={() => ask(false)}
      />
      {renew.dialog}
    </Card>
  );
}
