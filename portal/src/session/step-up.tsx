import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { KeyRound, LogIn } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/call.js';
import { ApiFault } from '../api/fault.js';
import { queryClient } from '../api/query-client.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Form, FormFault } from '../ui/form.js';
import { askPasskey, hasPasskeys } from './passkey.js';
import { SIGN_IN_OPTIONS } from './sign-in-options.js';
import { useMe } from './use-me.js';
import { rememberWayBack } from './way-back.js';

/** Whether the server wants a fresh sign-in before it does this. */
export function asksForStepUp(error: unknown): boolean {
  return error instanceof ApiFault && error.code === 'step_up_required';
}

/**
 * An act that may take a fresh sign-in: it is tried, and tried once more when the user has proved who it is. What the page shows in
 * between is the dialog that comes with it.
 */
export function useSteppedUp<Given, Made>(
  act: (given: Given) => Promise<Made>,
  onDone: (made: Made) => void | Promise<void> = () => {},
) {
  const [waiting, setWaiting] = useState<{ readonly given: Given }>();
  const mutation = useMutation({
    mutationFn: act,
    onSuccess: onDone,
    onError: (error, given) => asksForStepUp(error) && setWaiting({ given }),
  });
  const dialog = (
    <StepUpDialog
      isOpen={waiting !== undefined}
      onClose={() => setWaiting(undefined)}
      onProved={() => {
        const { given } = waiting ?? {};
        setWaiting(undefined);
        mutation.mutate(given as Given); // It was what the act was called with.
      }}
    />
  );
  return {
    ...mutation,
    error: asksForStepUp(mutation.error) ? null : mutation.error,
    dialog,
    /** Whether the dialog is open: another one gives way to it. */
    isAsking: waiting !== undefined,
  };
}

/** A fresh sign-in for its own sake, for what is shown only after one. */
export function useStepUp(onProved: () => void | Promise<void>) {
  const [isAsking, ask] = useState(false);
  const dialog = (
    <StepUpDialog
      isOpen={isAsking}
      onClose={() => ask(false)}
      onProved={() => {
        ask(false);
        void onProved();
      }}
    />
  );
  return { ask: () => ask(true), dialog };
}

interface StepUpDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onProved: () => void;
}

function StepUpDialog({ isOpen, onClose, onProved }: StepUpDialogProps) {
  const navigate = useNavigate();
  const { data: me } = useMe();
  const { data: options } = useQuery({ ...SIGN_IN_OPTIONS, enabled: isOpen });
  const byPassword = useMutation({
    mutationFn: (given: Readonly<Record<string, string>>) =>
      call('POST /portal/api/step-up', {
        body: { password: given.password ?? '', one_time_code: given.one_time_code || null },
      }),
    onSuccess: onProved,
  });
  const byPasskey = useMutation({
    mutationFn: async () => {
      const answer = await askPasskey(await call('POST /portal/api/sign-in/passkey/options', {}));
      return answer === undefined ? undefined : call('POST /portal/api/sign-in/passkey', { body: { answer } });
    },
    onSuccess: async (user) => {
      if (user?.id === me?.user.id) return onProved();
      if (user === undefined) return;
      // Somebody else's passkey: that person is signed in now, and does not do what this one had begun.
      onClose();
      queryClient.clear();
      await navigate({ to: '/tenants' });
    },
  });
  const byIssuer = useMutation({
    mutationFn: (issuerId: string) => call('POST /portal/api/oidc/begin', { body: { issuer_id: issuerId } }),
    onSuccess({ url }) {
      rememberWayBack();
      location.assign(url);
    },
  });
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Is it you?" lead="This takes a sign-in of the last ten minutes.">
      {options?.passkeys && hasPasskeys() && (
        <Button isWide isBusy={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
          <KeyRound aria-hidden className="size-4" />
          Use a passkey
        </Button>
      )}
      {options?.issuers.map(({ id, name }) => (
        <Button key={id} isWide isBusy={byIssuer.isPending} onClick={() => byIssuer.mutate(id)}>
          <LogIn aria-hidden className="size-4" />
          Sign in again with {name}
        </Button>
      ))}
      <Form onSubmit={byPassword.mutate}>
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Field
          label="One-time code"
          name="one_time_code"
          autoComplete="one-time-code"
          hint="If you have an authenticator."
        />
        <FormFault error={byPassword.error ?? byPasskey.error ?? byIssuer.error} />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={byPassword.isPending}>
            Go on
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
