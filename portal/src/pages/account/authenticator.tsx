import { useState } from 'react';
import { call } from '../../api/call.js';
import type { PortalOfferedAuthenticator } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { Card } from '../../ui/card.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { When } from '../../ui/when.js';
import { QrCode } from './qr-code.js';
import { reloadAccount, useFactors } from './use-factors.js';

/** One-time codes of an app, and the codes that stand in for it. */
export function AuthenticatorCard() {
  const { data: factors } = useFactors();
  const [offered, setOffered] = useState<PortalOfferedAuthenticator>();
  const [codes, setCodes] = useState<readonly string[]>();
  const offer = useSteppedUp(() => call('POST /portal/api/authenticator', {}), setOffered);
  const remove = useSteppedUp(() => call('DELETE /portal/api/authenticator', {}), reloadAccount);
  const renew = useSteppedUp(
    () => call('POST /portal/api/recovery-codes', {}),
    async (made) => {
      setCodes(made.recovery_codes);
      await reloadAccount();
    },
  );
  const since = factors?.authenticator?.created_at;
  return (
    <Card
      title="Authenticator"
      lead={
        since ? (
          <>
            In use since <When at={since} />. {factors.recovery_codes_left} recovery codes are left.
          </>
        ) : (
          'An app on your phone shows a code that the sign-in asks for beside your password.'
        )
      }
      action={
        <div className="flex flex-wrap gap-2">
          <Button isBusy={offer.isPending} onClick={() => offer.mutate(undefined)}>
            {since ? 'Replace' : 'Set up'}
          </Button>
          {since && (
            <Button isBusy={renew.isPending} onClick={() => renew.mutate(undefined)}>
              New recovery codes
            </Button>
          )}
          {since && (
            <Button look="danger" isBusy={remove.isPending} onClick={() => remove.mutate(undefined)}>
              Remove
            </Button>
          )}
        </div>
      }
    >
      {(offer.error || remove.error || renew.error) && <FormFault error={offer.error ?? remove.error ?? renew.error} />}
      {offered && (
        <OfferDialog
          offered={offered}
          onClose={() => setOffered(undefined)}
          onConfirmed={async (made) => {
            setOffered(undefined);
            setCodes(made);
            await reloadAccount();
          }}
        />
      )}
      {codes && <CodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
      {offer.dialog}
      {remove.dialog}
      {renew.dialog}
    </Card>
  );
}

interface OfferDialogProps {
  readonly offered: PortalOfferedAuthenticator;
  readonly onClose: () => void;
  readonly onConfirmed: (codes: readonly string[]) => Promise<void>;
}

function OfferDialog({ offered, onClose, onConfirmed }: OfferDialogProps) {
  const confirm = useSteppedUp(
    (code: string) => call('POST /portal/api/authenticator/confirm', { body: { code } }),
    ({ recovery_codes: made }) => onConfirmed(made),
  );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Set up an authenticator"
      lead="Scan this with your app, or give it the key. Then type the code it shows."
    >
      <div className="space-y-3 rounded-lg bg-sunken p-4">
        <QrCode text={offered.uri} label="The key as a QR code" />
        <p className="font-mono text-sm tracking-wider break-all">{offered.secret.match(/.{4}/g)?.join(' ')}</p>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={offered.secret} label="Copy the key" />
          <a
            href={offered.uri}
            className="inline-flex h-10 items-center rounded-lg px-3 text-sm font-medium text-accent underline underline-offset-4"
          >
            Open in an app on this device
          </a>
        </div>
      </div>
      <Form onSubmit={({ code = '' }) => confirm.mutate(code)}>
        <Field
          label="Code"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          autoFocus
          error={faultOfField(confirm.error, 'code')}
        />
        <FormFault error={confirm.error} fields={['code']} />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={confirm.isPending}>
            Confirm
          </Button>
        </div>
      </Form>
      {confirm.dialog}
    </Dialog>
  );
}

/** Shown once, so it closes by its button alone. */
function CodesDialog({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  return (
    <Dialog isOpen title="Your recovery codes" lead="Each works once in place of a code of your authenticator.">
      <Callout tone="warn">They are shown only now. Keep them where you keep your passwords.</Callout>
      <ul className="grid grid-cols-2 gap-x-6 gap-y-1 rounded-lg bg-sunken p-4 font-mono text-sm">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex justify-end gap-2">
        <CopyButton text={codes.join('\n')} label="Copy all" />
        <Button look="primary" onClick={onClose}>
          I have kept them
        </Button>
      </div>
    </Dialog>
  );
}
