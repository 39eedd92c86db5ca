import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { call } from '../api/call.js';
import { queryClient } from '../api/query-client.js';
import { secretInLink } from '../session/secret-in-link.js';
import { SIGN_IN_OPTIONS } from '../session/sign-in-options.js';
import { Button } from '../ui/button.js';
import { Callout } from '../ui/callout.js';
import { EntryPage } from '../ui/entry-page.js';
import { Field } from '../ui/field.js';
import { Form, FormFault, faultOfField } from '../ui/form.js';
import type { ChosenPasskey } from './choose-credential.js';
import { NewPasswordField, PasskeyChoice } from './choose-credential.js';

const FIELDS = ['email', 'password', 'first_name', 'last_name'];

/** The owner's first sign-in, by the link that the first start prints. */
export function SetUpPage() {
  const secret = secretInLink();
  const navigate = useNavigate();
  const email = useRef<HTMLInputElement>(null);
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const setUp = useMutation({
    mutationFn: (given: {
      email: string;
      password?: string;
      passkey?: ChosenPasskey;
      first_name?: string;
      last_name?: string;
    }) => call('POST /portal/api/set-up', { body: { secret, ...given } }),
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: '/' });
    },
  });
  if (secret === '')
    return <NoSecret next="If it does not work, restart the server: it prints a new one until one was used." />;
  return (
    <EntryPage title="Welcome to Strongroom" lead="Set up how you, the owner of this installation, sign in.">
      <Form
        onSubmit={({ email: address = '', password = '', first_name = '', last_name = '' }) =>
          setUp.mutate({
            email: address,
            password,
            ...(first_name && { first_name }),
            ...(last_name && { last_name }),
          })
        }
      >
        <Field
          ref={email}
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          error={faultOfField(setUp.error, 'email')}
        />
        <div className="grid grid-cols-2 gap-3">
          <Field
            label="First name"
            name="first_name"
            autoComplete="given-name"
            error={faultOfField(setUp.error, 'first_name')}
          />
          <Field
            label="Last name"
            name="last_name"
            autoComplete="family-name"
            error={faultOfField(setUp.error, 'last_name')}
          />
        </div>
        <NewPasswordField error={setUp.error} />
        <FormFault error={setUp.error} fields={FIELDS} />
        <Button type="submit" look="primary" isWide isBusy={setUp.isPending}>
          Finish the set-up
        </Button>
        <PasskeyChoice
          isUsable={options?.passkeys ?? false}
          options={() =>
            call('POST /portal/api/set-up/passkey-options', { body: { secret, email: email.current?.value ?? '' } })
          }
          onMade={(passkey) => setUp.mutate({ email: email.current?.value ?? '', passkey })}
        />
      </Form>
    </EntryPage>
  );
}

/** The address was opened without its link, or loaded anew. */
export function NoSecret({ next }: { readonly next: string }) {
  // The same link opened in this very tab changes nothing but what stands behind its `#`.
  useEffect(() => {
    const reload = () => location.hash.length > 1 && location.reload();
    addEventListener('hashchange', reload);
    return () => removeEventListener('hashchange', reload);
  }, []);
  return (
    <EntryPage title="Open the link once more">
      <Callout tone="info">
        This page works by the link that leads to it. It keeps nothing of it, so a reload loses it.
      </Callout>
      <p className="text-sm text-muted">{next}</p>
    </EntryPage>
  );
}

export function DeadLink({ what, next }: { readonly what: string; readonly next: string }) {
  return (
    <EntryPage title="This link does not work">
      <Callout tone="warn">The {what} was used, replaced, or is too old.</Callout>
      <p className="text-sm text-muted">{next}</p>
    </EntryPage>
  );
}
