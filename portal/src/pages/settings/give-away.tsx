import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Tenant } from '../../api/generated.js';
import { queryClient } from '../../api/query-client.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useMe } from '../../session/use-me.js';
import { nameOf } from '../../tenant/name-of.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { Loaded } from '../../ui/loaded.js';
import { Select } from '../../ui/select.js';
import { Row } from './setting-row.js';

const OFFERED_MAX = 100;

/** Makes another member the owner. */
export function GiveAway({ tenant }: { readonly tenant: Tenant }) {
  const { data: me } = useMe();
  const [isOpen, open] = useState(false);
  const members = useQuery({
    queryKey: ['tenant', tenant.id, 'members', 'heirs'],
    queryFn: ({ signal }) =>
      call('GET /tenants/self/members', { tenantId: tenant.id, query: { size: OFFERED_MAX }, signal }),
    enabled: isOpen,
  });
  const give = useSteppedUp(
    (memberId: string) =>
      call('POST /portal/api/tenants/{tenant_id}/owner', {
        params: { tenant_id: tenant.id },
        body: { member_id: memberId },
      }),
    async () => {
      open(false);
      await queryClient.invalidateQueries({ queryKey: ['me'] });
      await queryClient.invalidateQueries({ queryKey: ['tenant', tenant.id] });
    },
  );
  return (
    <Row text="Give this tenant away" hint="Another member owns it then, and you are an administrator.">
      <Button look="danger" onClick={() => open(true)}>
        Give away
      </Button>
      <Dialog
        isOpen={isOpen && !give.isAsking}
        onClose={() => open(false)}
        title={`Give ${tenant.name} away`}
        lead="Only the new owner can delete it or give it back to you."
      >
        <Loaded query={members}>
          {({ data }) => {
            const heirs = data.filter(({ user }) => user.id !== me?.user.id);
            if (heirs.length === 0)
              return <p className="text-sm text-muted">There is nobody else: invite them first.</p>;
            return (
              <Form onSubmit={({ member = '' }) => give.mutate(member)}>
                <Select
                  label="New owner"
                  name="member"
                  options={heirs.map(({ id, user }) => ({ value: id, text: nameOf(user) }))}
                  error={faultOfField(give.error, 'member_id')}
                />
                <FormFault error={give.error} fields={['member_id']} />
                <div className="flex justify-end gap-2">
                  <Button look="quiet" onClick={() => open(false)}>
                    Cancel
                  </Button>
                  <Button type="submit" look="danger" isBusy={give.isPending}>
                    Give away
                  </Button>
                </div>
              </Form>
            );
          }}
        </Loaded>
      </Dialog>
      {give.dialog}
    </Row>
  );
}
