import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound, LogIn } from 'lucide-react';
import { call } from '../api/call.js';
import { queryClient } from '../api/query-client.js';
import { askPasskey, hasPasskeys } from '../session/passkey.js';
import { PasskeyNote } from '../session/passkey-note.js';
import { SIGN_IN_OPTIONS } from '../session/sign-in-options.js';
import { pageBehindSignIn, rememberWayBack } from '../session/way-back.js';
import { Button } from '../ui/button.js';
import { Callout } from '../ui/callout.js';
import { EntryPage } from '../ui/entry-page.js';
import { Field } from '../ui/field.js';
import { Form, FormFault } from '../ui/form.js';

/** The words behind `#` with which the way back from an issuer ends. */
const RETURNS: Readonly<Record<string, string>> = {
  'oidc-denied': 'The sign-in there was broken off.',
  'oidc-unknown':
    'Nobody here is linked with that account. Sign in another way and link it in your profile, or accept an invitation with it.',
  'oidc-taken': 'That account belongs to somebody here already. Sign in with it.',
  'oidc-refused': 'The sign-in there was not accepted. Begin again.',
  'oidc-unavailable': 'The issuer cannot be asked now. Try again shortly.',
  'oidc-invitation': 'The invitation does not work any more. Ask for a new one.',
};

export function SignInPage() {
  const navigate = useNavigate();
  const { to } = useSearch({ strict: false });
  const enter = async () => {
    queryClient.clear();
    const page = pageBehindSignIn(to);
    if (page === undefined) await navigate({ to: '/' });
    else location.assign(page);
  };
  const byPassword = useMutation({
    mutationFn: (given: Readonly<Record<string, string>>) =>
      call('POST /portal/api/sign-in', {
        body: {
          email: given.email ?? '',
          password: given.password ?? '',
          one_time_code: given.one_time_code || null,
        },
      }),
    onSuccess: enter,
  });
  const returned = RETURNS[location.hash.slice(1)];
  return (
    <EntryPage
      title="Sign in"
      foot={
        <Link to="/forgotten-password" className="underline underline-offset-4 hover:text-ink">
          Forgotten your password?
        </Link>
      }
    >
      {returned && <Callout tone="warn">{returned}</Callout>}
      <OtherWays onEntered={enter} />
      <Form onSubmit={byPassword.mutate}>
        <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Field
          label="One-time code"
          name="one_time_code"
          inputMode="text"
          autoComplete="one-time-code"
          hint="Of your authenticator, or a recovery code. Leave it empty if you have none."
        />
        <FormFault error={byPassword.error} />
        <Button type="submit" look="primary" isWide isBusy={byPassword.isPending}>
          Sign in
        </Button>
      </Form>
      <PasskeyNote />
    </EntryPage>
  );
}

/** Passkeys and issuers, above the form: for who has one it is a single click. */
function OtherWays({ onEntered }: { readonly onEntered: () => Promise<void> }) {
  const { to } = useSearch({ strict: false });
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const byPasskey = useMutation({
    mutationFn: async () => {
      const answer = await askPasskey(await call('POST /portal/api/sign-in/passkey/options', {}));
      return answer === undefined ? undefined : call('POST /portal/api/sign-in/passkey', { body: { answer } });
    },
    onSuccess: (user) => user && onEntered(),
  });
  const byIssuer = useMutation({
    mutationFn: (issuerId: string) => call('POST /portal/api/oidc/begin', { body: { issuer_id: issuerId } }),
    onSuccess({ url }) {
      rememberWayBack(to);
      location.assign(url);
    },
  });
  const hasPasskey = options?.passkeys && hasPasskeys();
  if (!options || (!hasPasskey && options.issuers.length === 0)) return null;
  return (
    <div className="space-y-3">
      {hasPasskey && (
        <Button isWide isBusy={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
          <KeyRound aria-hidden className="size-4" />
          Sign in with a passkey
        </Button>
      )}
      {options.issuers.map(({ id, name }) => (
        <Button
          key={id}
          isWide
          isBusy={byIssuer.isPending && byIssuer.variables === id}
          onClick={() => byIssuer.mutate(id)}
        >
          <LogIn aria-hidden className="size-4" />
          Continue with {name}
        </Button>
      ))}
      <FormFault error={byPasskey.error ?? byIssuer.error} />
      <div className="flex items-center gap-3 text-[13px] text-muted">
        <span className="h-px flex-1 bg-line" />
        or with your password
        <span className="h-px flex-1 bg-line" />
      </div>
    </div>
  );
}

/** The cookie of a session is kept over TLS or on this machine alone: without either a sign-in would only come back here. */
export function NotSecure() {
  return (
    <EntryPage title="This connection is not secure">
      <Callout tone="warn" title="Browsers keep no session here">
        You opened the Portal over plain HTTP from another machine. Open it with{' '}
        <code className="font-mono">https://</code>, or on the machine itself at{' '}
        <code className="font-mono">http://localhost</code>.
      </Callout>
      <p className="text-sm text-muted">
        Operators put a proxy with TLS in front, and name its address in{' '}
        <code className="font-mono">STRONGROOM_PORTAL_URL</code>.
      </p>
    </EntryPage>
  );
}
