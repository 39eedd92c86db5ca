import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useMe } from '../../session/use-me.js';
import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { Card } from '../../ui/card.js';
import { Field } from '../../ui/field.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { reloadAccount } from './use-factors.js';

export function EmailCard() {
  const { data: me } = useMe();
  const [isOpen, open] = useState(false);
  const change = useSteppedUp(
    (email: string) => call('POST /portal/api/email', { body: { email } }),
    async () => {
      open(false);
      await reloadAccount();
    },
  );
  return (
    <Card
      title="E-mail"
      lead={me?.user.email ?? 'You have no address yet.'}
      action={!isOpen && <Button onClick={() => open(true)}>Change</Button>}
    >
      {(isOpen || me?.pending_email) && (
        <div className="space-y-4">
          {me?.pending_email && (
            <Callout tone="info" title={`Waiting for ${me.pending_email}`}>
              Follow the links in the mails to the old and to the new address, within a day.
            </Callout>
          )}
          {isOpen && (
            <Form onSubmit={({ email = '' }) => change.mutate(email)}>
              <Field
                label="New address"
                name="email"
                type="email"
                required
                error={faultOfField(change.error, 'email')}
              />
              <FormFault error={change.error} fields={['email']} />
              <Button type="submit" look="primary" isBusy={change.isPending}>
                Send the links
              </Button>
            </Form>
          )}
        </div>
      )}
      {change.dialog}
    </Card>
  );
}
