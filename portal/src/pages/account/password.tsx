import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Field } from '../../ui/field.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { announce } from '../../ui/notices.js';
import { NewPasswordField } from '../choose-credential.js';
import { reloadAccount } from './use-factors.js';

const FIELDS = ['current_password', 'new_password'];

export function PasswordCard() {
  const [isOpen, open] = useState(false);
  const change = useSteppedUp(
    (given: Readonly<Record<string, string>>) =>
      call('POST /portal/api/password', {
        body: {
          ...(given.current_password && { current_password: given.current_password }),
          one_time_code: given.one_time_code || null,
          new_password: given.new_password ?? '',
        },
      }),
    async () => {
      open(false);
      announce({ id: 'password', tone: 'ok', text: 'Password changed. Your other sessions have ended.' });
      await reloadAccount();
    },
  );
  return (
    <Card
      title="Password"
      lead="A new one ends every other session of yours."
      action={!isOpen && <Button onClick={() => open(true)}>Change</Button>}
    >
      {isOpen && (
        <Form onSubmit={change.mutate}>
          <Field
            label="Current password"
            name="current_password"
            type="password"
            autoComplete="current-password"
            hint="Leave it empty if you have none yet."
            error={faultOfField(change.error, 'current_password')}
          />
          <Field
            label="One-time code"
            name="one_time_code"
            autoComplete="one-time-code"
            hint="If you have an authenticator."
          />
          <NewPasswordField error={change.error} field="new_password" />
          <FormFault error={change.error} fields={FIELDS} />
          <Button type="submit" look="primary" isBusy={change.isPending}>
            Change the password
          </Button>
        </Form>
      )}
      {change.dialog}
    </Card>
  );
}
