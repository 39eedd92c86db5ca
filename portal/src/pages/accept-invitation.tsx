import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import { call } from '../api/call.js';
import { ApiFault } from '../api/fault.js';
import { queryClient } from '../api/query-client.js';
import { secretInLink } from '../session/secret-in-link.js';
import { SIGN_IN_OPTIONS } from '../session/sign-in-options.js';
import { ME } from '../session/use-me.js';
import { Button } from '../ui/button.js';
import { Callout } from '../ui/callout.js';
import { EntryPage } from '../ui/entry-page.js';
import { Field } from '../ui/field.js';
import { Form, FormFault, faultOfField } from '../ui/form.js';
import type { ChosenPasskey } from './choose-credential.js';
import { NewPasswordField, PasskeyChoice } from './choose-credential.js';
import { DeadLink, NoSecret } from './set-up.js';

const FIELDS = ['password', 'first_name', 'last_name'];

/** What somebody is invited to; then as who is signed in, or as a newcomer. */
export function AcceptInvitationPage() {
  const secret = secretInLink();
  const navigate = useNavigate();
  const invitation = useQuery({
    queryKey: ['invitation', secret],
    queryFn: () => call('POST /portal/api/invitations/preview', { body: { secret } }),
    enabled: secret !== '',
    retry: false,
  });
  const me = useQuery({ ...ME, retry: false });
  const enter = async () => {
    queryClient.clear();
    await navigate({ to: '/' });
  };
  if (secret === '') return <NoSecret next="An invitation that nobody has used still works." />;
  if (invitation.error instanceof ApiFault && invitation.error.status === 404) {
    return <DeadLink what="invitation" next="Ask whoever invited you for a new one." />;
  }
  if (!invitation.data)
    return (
      <EntryPage title="Invitation">
        <FormFault error={invitation.error} />
      </EntryPage>
    );
  const { tenant_name: tenant, email, role } = invitation.data;
  return (
    <EntryPage
      title={`Join ${tenant}`}
      lead={
        <>
          You are invited as <strong>{role === 'ADMIN' ? 'an administrator' : 'a reader'}</strong>, for {email}.
        </>
      }
    >
      {me.data ? (
        <AcceptAsMe secret={secret} email={email} mine={me.data.user.email ?? ''} onEntered={enter} />
      ) : (
        <AcceptAsNewcomer secret={secret} onEntered={enter} />
      )}
    </EntryPage>
  );
}

function AcceptAsMe(props: {
  readonly secret: string;
  readonly email: string;
  readonly mine: string;
  readonly onEntered: () => Promise<void>;
}) {
  const accept = useMutation({
    mutationFn: () => call('POST /portal/api/invitations/accept', { body: { secret: props.secret } }),
    onSuccess: props.onEntered,
  });
  const signOut = useMutation({
    mutationFn: () => call('POST /portal/api/sign-out', {}),
    onSettled: () => queryClient.resetQueries({ queryKey: ME.queryKey }),
  });
  const isOther = props.mine.toLowerCase() !== props.email.toLowerCase();
  return (
    <>
      {isOther && (
        <>
          <Callout tone="warn">
            You are signed in as {props.mine}. The invitation is for {props.email}: sign out first.
          </Callout>
          <Button isWide isBusy={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign out
          </Button>
        </>
      )}
      <FormFault error={accept.error} />
      <Button look="primary" isWide isBusy={accept.isPending} disabled={isOther} onClick={() => accept.mutate()}>
        Accept as {props.mine}
      </Button>
    </>
  );
}

function AcceptAsNewcomer({ secret, onEntered }: { readonly secret: string; readonly onEntered: () => Promise<void> }) {
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const register = useMutation({
    mutationFn: (given: { password?: string; passkey?: ChosenPasskey; first_name?: string; last_name?: string }) =>
      call('POST /portal/api/invitations/register', { body: { secret, ...given } }),
    onSuccess: onEntered,
  });
  const byIssuer = useMutation({
    mutationFn: (issuerId: string) => call('POST /portal/api/oidc/begin', { body: { issuer_id: issuerId, secret } }),
    onSuccess: ({ url }) => location.assign(url),
  });
  return (
    <Form
      onSubmit={({ password = '', first_name = '', last_name = '' }) =>
        register.mutate({ password, ...(first_name && { first_name }), ...(last_name && { last_name }) })
      }
    >
      <div className="grid grid-cols-2 gap-3">
        <Field
          label="First name"
          name="first_name"
          autoComplete="given-name"
          error={faultOfField(register.error, 'first_name')}
        />
        <Field
          label="Last name"
          name="last_name"
          autoComplete="family-name"
          error={faultOfField(register.error, 'last_name')}
        />
      </div>
      <NewPasswordField error={register.error} />
      <FormFault error={register.error ?? byIssuer.error} fields={FIELDS} />
      <Button type="submit" look="primary" isWide isBusy={register.isPending}>
        Create the account and join
      </Button>
      <PasskeyChoice
        isUsable={options?.passkeys ?? false}
        options={() => call('POST /portal/api/invitations/passkey-options', { body: { secret } })}
        onMade={(passkey) => register.mutate({ passkey })}
      />
      {options?.issuers.map(({ id, name }) => (
        <Button key={id} isWide onClick={() => byIssuer.mutate(id)}>
          <LogIn aria-hidden className="size-4" />
          Join with {name}
        </Button>
      ))}
    </Form>
  );
}
