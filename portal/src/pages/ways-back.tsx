import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { call } from '../api/call.js';
import { ApiFault } from '../api/fault.js';
import { secretInLink } from '../session/secret-in-link.js';
import { SIGN_IN_OPTIONS } from '../session/sign-in-options.js';
import { Button } from '../ui/button.js';
import { Callout } from '../ui/callout.js';
import { EntryPage } from '../ui/entry-page.js';
import { Field } from '../ui/field.js';
import { Form, FormFault } from '../ui/form.js';
import { NewPasswordField } from './choose-credential.js';
import { DeadLink, NoSecret } from './set-up.js';

const BACK = (
  <Link to="/sign-in" className="underline underline-offset-4 hover:text-ink">
    Back to the sign-in
  </Link>
);

export function ForgottenPasswordPage() {
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const ask = useMutation({
    mutationFn: (email: string) => call('POST /portal/api/password/forgotten', { body: { email } }),
  });
  return (
    <EntryPage title="Forgotten your password?" lead="We send a link that sets a new one." foot={BACK}>
      {options && !options.mail && (
        <Callout tone="warn" title="This installation sends no mail">
          Ask its operator for a link: <code className="font-mono">strongroom user reset-password</code> makes one.
        </Callout>
      )}
      {ask.isSuccess ? (
        <Callout tone="ok" title="Look into your mailbox">
          If an account has this address, a link is on its way. It works once, for an hour.
        </Callout>
      ) : (
        <Form onSubmit={({ email = '' }) => ask.mutate(email)}>
          <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
          <FormFault error={ask.error} />
          <Button type="submit" look="primary" isWide isBusy={ask.isPending}>
            Send a link
          </Button>
        </Form>
      )}
    </EntryPage>
  );
}

export function ResetPasswordPage() {
  const secret = secretInLink();
  const reset = useMutation({
    mutationFn: (password: string) => call('POST /portal/api/password/reset', { body: { secret, password } }),
  });
  const isDead = reset.error instanceof ApiFault && reset.error.status === 404;
  if (secret === '') return <NoSecret next="If it does not work, ask for a new one on the page of the sign-in." />;
  if (isDead) return <DeadLink what="link" next="Ask for a new one on the page of the sign-in." />;
  if (reset.isSuccess) {
    return (
      <EntryPage title="Password changed" foot={BACK}>
        <Callout tone="ok">All sessions have ended. Sign in with the new password.</Callout>
      </EntryPage>
    );
  }
  return (
    <EntryPage title="Set a new password" lead="All your sessions end with it." foot={BACK}>
      <Form onSubmit={({ password = '' }) => reset.mutate(password)}>
        <NewPasswordField error={reset.error} />
        <FormFault error={reset.error} fields={['password']} />
        <Button type="submit" look="primary" isWide isBusy={reset.isPending}>
          Set the password
        </Button>
      </Form>
    </EntryPage>
  );
}

export function ConfirmEmailPage() {
  const secret = secretInLink();
  const { mutate, ...confirm } = useMutation({
    mutationFn: () => call('POST /portal/api/email/confirm', { body: { secret } }),
  });
  useEffect(() => {
    if (secret !== '') mutate();
  }, [secret, mutate]);
  const isDead = confirm.error instanceof ApiFault && confirm.error.status === 404;
  if (secret === '') return <NoSecret next="If it does not work, ask for the change once more in your profile." />;
  if (isDead) return <DeadLink what="link" next="Ask for the change once more in your profile." />;
  return (
    <EntryPage title="Change of your address" foot={BACK}>
      {confirm.isPending && <p className="text-sm text-muted">One moment…</p>}
      {confirm.data && (
        <Callout tone="ok">
          {confirm.data.is_changed
            ? 'Your address is changed. Sign in with the new one from now on.'
            : 'This address is confirmed. Follow the link in the mail to the other one as well.'}
        </Callout>
      )}
      <FormFault error={confirm.error} />
    </EntryPage>
  );
}
