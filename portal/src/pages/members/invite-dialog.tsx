import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { SIGN_IN_OPTIONS } from '../../session/sign-in-options.js';
import { useSteppedUp } from '../../session/step-up.js';
import type { GivenRole } from '../../tenant/roles.js';
import { GIVEN_ROLE_OPTIONS } from '../../tenant/roles.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { announce } from '../../ui/notices.js';
import { Select } from '../../ui/select.js';
import { LinkDialog } from './link-dialog.js';

export function InviteDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { id: tenantId, membership } = useTenant();
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const [link, setLink] = useState<string>();
  const invite = useSteppedUp(
    (body: { readonly email: string; readonly role: GivenRole }) =>
      call('POST /tenants/self/invitations', { tenantId, body }),
    async (made) => {
      onClose();
      setLink(made.link);
      if (made.link === undefined) announce({ id: 'invited', tone: 'ok', text: `${made.email} is invited.` });
      await reloadTenant(tenantId, 'invitations');
    },
  );
  return (
    <>
      <Dialog
        isOpen={isOpen && !invite.isAsking}
        onClose={onClose}
        title="Invite somebody"
        lead={`To ${membership?.name ?? 'this tenant'}. ${
          options?.mail ? 'A link goes to the address.' : 'This server sends no mail: you get a link to pass on.'
        } It is good for three days.`}
      >
        <Form
          onSubmit={({ email = '', role }) =>
            invite.mutate({ email, role: role === 'READ_ONLY' ? 'READ_ONLY' : 'ADMIN' })
          }
        >
          <Field
            label="E-mail"
            name="email"
            type="email"
            autoComplete="off"
            required
            autoFocus
            error={faultOfField(invite.error, 'email')}
          />
          <Select label="Role" name="role" options={GIVEN_ROLE_OPTIONS} error={faultOfField(invite.error, 'role')} />
          <FormFault error={invite.error} fields={['email', 'role']} />
          <div className="flex justify-end gap-2">
            <Button look="quiet" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" look="primary" isBusy={invite.isPending}>
              Invite
            </Button>
          </div>
        </Form>
      </Dialog>
      {invite.dialog}
      <LinkDialog link={link} onClose={() => setLink(undefined)} />
    </>
  );
}
