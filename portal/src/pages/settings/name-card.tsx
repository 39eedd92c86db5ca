import type { Tenant } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Field } from '../../ui/field.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { useTenantUpdate } from './use-tenant-settings.js';

export function NameCard({ tenant }: { readonly tenant: Tenant }) {
  const { mayChange } = useTenant();
  const update = useTenantUpdate(tenant);
  return (
    <Card title="Name" lead="Only people see it.">
      <Form onSubmit={({ name = '' }) => update.mutate({ name })}>
        <Field
          key={tenant.name}
          label="Name of the tenant"
          name="name"
          defaultValue={tenant.name}
          readOnly={!mayChange}
          error={faultOfField(update.error, 'name')}
        />
        <FormFault error={update.error} fields={['name']} />
        {mayChange && (
          <Button type="submit" isBusy={update.isPending}>
            Rename
          </Button>
        )}
      </Form>
      {update.dialog}
    </Card>
  );
}
