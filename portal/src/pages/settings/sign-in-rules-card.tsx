import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { PortalLackingMember, PortalSignInRules } from '../../api/generated.js';
import { queryClient } from '../../api/query-client.js';
import { SIGN_IN_OPTIONS } from '../../session/sign-in-options.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { Card } from '../../ui/card.js';
import { Field } from '../../ui/field.js';
import { Form, FormFault, faultOfField } from '../../ui/form.js';
import { Loaded } from '../../ui/loaded.js';
import { announce } from '../../ui/notices.js';
import { Select } from '../../ui/select.js';

const NAMED_MAX = 10;
const DATE_LENGTH = 10;

/** How members have to sign in, with who could not. */
export function SignInRulesCard() {
  const { id: tenantId } = useTenant();
  const rules = useQuery({
    queryKey: ['tenant', tenantId, 'sign-in-rules'],
    queryFn: ({ signal }) =>
      call('GET /portal/api/tenants/{tenant_id}/sign-in-rules', { params: { tenant_id: tenantId }, signal }),
  });
  const options = useQuery(SIGN_IN_OPTIONS);
  return (
    <Card
      title="Signing in"
      lead="Nobody is removed by these: a member who does not follow them is told so, and has no access until it does."
    >
      <Loaded query={rules}>
        {(found) => (
          // A list that comes after its choice would show the first of its lines, and the next save would send that.
          <Loaded query={options}>
            {({ issuers }) => <RulesForm key={JSON.stringify(found)} rules={found} issuers={issuers} />}
          </Loaded>
        )}
      </Loaded>
    </Card>
  );
}

interface RulesFormProps {
  readonly rules: PortalSignInRules;
  readonly issuers: readonly { readonly id: string; readonly name: string }[];
}

function RulesForm({ rules, issuers }: RulesFormProps) {
  const { id: tenantId, mayChange } = useTenant();
  const save = useSteppedUp(
    ({ from, issuer }: { readonly from: string; readonly issuer: string }) =>
      call('PUT /portal/api/tenants/{tenant_id}/sign-in-rules', {
        params: { tenant_id: tenantId },
        body: { second_factor_from: from === '' ? null : `${from}T00:00:00Z`, issuer_id: issuer || null },
      }),
    async () => {
      await Promise.all([reloadTenant(tenantId, 'sign-in-rules'), queryClient.invalidateQueries({ queryKey: ['me'] })]);
      announce({ id: 'saved', tone: 'ok', text: 'The rules are set.' });
    },
  );
  return (
    <>
      <Form onSubmit={({ from = '', issuer = '' }) => save.mutate({ from, issuer })}>
        <Field
          label="Second factor from"
          name="from"
          type="date"
          defaultValue={rules.second_factor_from?.slice(0, DATE_LENGTH)}
          readOnly={!mayChange}
          hint="From this day (UTC) on everybody needs an authenticator or a passkey. Empty: nobody does."
          error={faultOfField(save.error, 'second_factor_from')}
        />
        <Lacking title="Have no second factor yet" members={rules.without_second_factor} />
        <Select
          label="Sign-in provider"
          name="issuer"
          defaultValue={rules.issuer_id ?? ''}
          disabled={!mayChange || issuers.length === 0}
          options={[
            { value: '', text: 'Any way of signing in' },
            ...issuers.map(({ id, name }) => ({ value: id, text: `Only ${name}` })),
          ]}
          hint={
            issuers.length === 0
              ? 'The operator of this server has set none.'
              : 'The owner can always sign in otherwise, as a way back.'
          }
          error={faultOfField(save.error, 'issuer_id')}
        />
        <Lacking title="Are not linked with this provider yet" members={rules.without_issuer} />
        <FormFault error={save.error} fields={['second_factor_from', 'issuer_id']} />
        {mayChange && (
          <Button type="submit" isBusy={save.isPending}>
            Set the rules
          </Button>
        )}
      </Form>
      {save.dialog}
    </>
  );
}

function Lacking({ title, members }: { readonly title: string; readonly members: readonly PortalLackingMember[] }) {
  if (members.length === 0) return null;
  const names = members.slice(0, NAMED_MAX).map(({ email, user_id: id }) => email ?? id);
  const more = members.length - names.length;
  return (
    <Callout tone="warn" title={`${title}: ${members.length}`}>
      <span className="break-words">
        {names.join(', ')}
        {more > 0 && ` and ${more} more`}
      </span>
    </Callout>
  );
}
