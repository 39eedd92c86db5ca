import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Reactor } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { CodeLine } from '../../ui/code-line.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { SecretDialog } from '../../ui/secret-dialog.js';
import { DeleteCard } from '../definitions/delete-card.js';
import { OwnLogLink } from '../definitions/own-log-link.js';
import { reactCall } from './react-call.js';

export function ReactorSettings({ reactor: { id, name } }: { readonly reactor: Reactor }) {
  const { mayChange } = useTenant();
  return (
    <div className="space-y-6">
      <Card title="Call it" lead="With the key of a private Application that has token:use.">
        <div className="space-y-3">
          <CodeLine text={reactCall(id)} />
          <CodeLine text={id} label="Copy the id" />
          <OwnLogLink id={id} />
        </div>
      </Card>
      {mayChange && <CallbackSecretCard reactorId={id} />}
      {mayChange && (
        <DeleteCard
          kind="reactors"
          id={id}
          name={name}
          lead="Calls of it are refused from then on. Its versions go with it, and calls that wait to be run."
        />
      )}
    </div>
  );
}

function CallbackSecretCard({ reactorId }: { readonly reactorId: string }) {
  const { id: tenantId } = useTenant();
  const [isAsking, ask] = useState(false);
  const [secret, setSecret] = useState<string>();
  const renew = useSteppedUp(
    (id: string) => call('POST /reactors/{id}/callback-secret', { tenantId, params: { id } }),
    ({ callback_secret: made }) => {
      ask(false);
      setSecret(made);
    },
  );
  return (
    <Card
      title="Callback secret"
      lead="Results that are sent to a callback_url are signed with it, in SVC-SIGNATURE. It was shown when the Reactor was made."
      action={
        <Button onClick={() => ask(true)}>
          <KeyRound aria-hidden className="size-4" />
          Make a new one
        </Button>
      }
    >
      <ConfirmDialog
        isOpen={isAsking}
        title="Make a new callback secret?"
        lead="The current one stops working at once. Whoever checks signatures needs the new one."
        act="Make a new secret"
        isBusy={renew.isPending}
        error={renew.error}
        onConfirm={() => renew.mutate(reactorId)}
        onClose={() => ask(false)}
      />
      {renew.dialog}
      <SecretDialog
        secret={secret}
        title="The new callback secret"
        lead="It is shown this one time. Store it where the signatures of callbacks are checked."
        onClose={() => {
          setSecret(undefined);
          renew.reset();
        }}
      />
    </Card>
  );
}
