import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Building2, Plus } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/call.js';
import { queryClient } from '../api/query-client.js';
import { useMe } from '../session/use-me.js';
import { ROLES } from '../tenant/roles.js';
import { Button } from '../ui/button.js';
import { Callout } from '../ui/callout.js';
import { Dialog } from '../ui/dialog.js';
import { useTitle } from '../ui/entry-page.js';
import { Field } from '../ui/field.js';
import { Form, FormFault, faultOfField } from '../ui/form.js';

/** The tenants of whoever is signed in. */
export function HomePage() {
  useTitle('Tenants');
  const [isCreating, create] = useState(false);
  const { data: me } = useMe();
  const tenants = me?.memberships ?? [];
  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-2xl font-semibold tracking-tight">Your tenants</h1>
        <Button onClick={() => create(true)}>
          <Plus aria-hidden className="size-4" />
          New tenant
        </Button>
      </div>
      {me && tenants.length === 0 && (
        <Callout tone="info" title="You belong to no tenant yet">
          Create one of your own, or ask an owner for an invitation.
        </Callout>
      )}
      <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {tenants.map(({ tenant_id: id, name, role }) => (
          <li key={id} className="min-w-0">
            <Link
              to="/tenants/$tenantId/overview"
              params={{ tenantId: id }}
              className="flex h-full items-start gap-3 rounded-xl border border-line bg-card p-5 hover:border-accent"
            >
              <span className="rounded-lg bg-accent-soft p-2 text-accent">
                <Building2 aria-hidden className="size-5" />
              </span>
              <span className="min-w-0">
                <span className="block truncate font-medium">{name}</span>
                <span className="block text-sm text-muted">{ROLES[role]}</span>
                <span className="mt-2 block font-mono text-xs break-all text-muted">{id}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <NewTenantDialog isOpen={isCreating} onClose={() => create(false)} />
    </div>
  );
}

function NewTenantDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const create = useMutation({
    mutationFn: (name: string) => call('POST /portal/api/tenants', { body: { name } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['me'] });
      onClose();
    },
  });
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New tenant"
      lead="You own it. Its keys, tokens and log are its own."
    >
      <Form onSubmit={({ name = '' }) => create.mutate(name)}>
        <Field label="Name" name="name" required autoFocus error={faultOfField(create.error, 'name')} />
        <FormFault error={create.error} fields={['name']} />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            Create
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
