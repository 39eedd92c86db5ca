import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { call } from '../../api/call.js';
import { hasPasskeys, makePasskey } from '../../session/passkey.js';
import { PasskeyNote } from '../../session/passkey-note.js';
import { SIGN_IN_OPTIONS } from '../../session/sign-in-options.js';
import { useSteppedUp } from '../../session/step-up.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { FormFault } from '../../ui/form.js';
import { When } from '../../ui/when.js';
import { deviceName } from '../choose-credential.js';
import { reloadAccount, useFactors } from './use-factors.js';

export function PasskeysCard() {
  const { data: factors } = useFactors();
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const add = useSteppedUp(async () => {
    const answer = await makePasskey(await call('POST /portal/api/passkeys/options', {}));
    return answer === undefined
      ? undefined
      : call('POST /portal/api/passkeys', { body: { name: deviceName(), answer } });
  }, reloadAccount);
  const remove = useSteppedUp(
    (id: string) => call('DELETE /portal/api/passkeys/{id}', { params: { id } }),
    reloadAccount,
  );
  const isUsable = (options?.passkeys ?? false) && hasPasskeys();
  return (
    <Card
      title="Passkeys"
      lead="Sign in with your fingerprint, your face or a security key. A passkey counts as a second factor."
      action={
        isUsable && (
          <Button isBusy={add.isPending} onClick={() => add.mutate(undefined)}>
            Add a passkey
          </Button>
        )
      }
    >
      {(factors?.passkeys.length ?? 0) > 0 && (
        <ul className="divide-y divide-line">
          {factors?.passkeys.map(({ id, name, created_at: createdAt, used_at: usedAt }) => (
            <li key={id} className="flex items-center justify-between gap-3 py-3">
              <div className="flex min-w-0 items-center gap-3">
                <KeyRound aria-hidden className="size-4 shrink-0 text-muted" />
                <div className="min-w-0">
                  <p className="truncate text-sm font-medium">{name}</p>
                  <p className="text-[13px] text-muted">
                    {usedAt ? (
                      <>
                        Used <When at={usedAt} />
                      </>
                    ) : (
                      <>
                        Added <When at={createdAt} />
                      </>
                    )}
                  </p>
                </div>
              </div>
              <Button
                look="danger"
                aria-label={`Remove ${name}`}
                isBusy={remove.isPending && remove.variables === id}
                onClick={() => remove.mutate(id)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <PasskeyNote />
      <FormFault error={add.error ?? remove.error} />
      {add.dialog}
      {remove.dialog}
    </Card>
  );
}
