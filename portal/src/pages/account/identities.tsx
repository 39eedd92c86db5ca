import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { call } from '../../api/call.js';
import { SIGN_IN_OPTIONS } from '../../session/sign-in-options.js';
import { useSteppedUp } from '../../session/step-up.js';
import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { Card } from '../../ui/card.js';
import { FormFault } from '../../ui/form.js';
import { When } from '../../ui/when.js';
import { reloadAccount, useFactors } from './use-factors.js';

const RETURNS: Readonly<Record<string, readonly ['ok' | 'warn', string]>> = {
  'oidc-linked': ['ok', 'The account is linked. You can sign in with it from now on.'],
  'oidc-taken': ['warn', 'That account is linked to somebody already.'],
};

/** Accounts elsewhere with which the user can sign in; nothing where the operator set no issuer. */
export function IdentitiesCard() {
  const { data: factors } = useFactors();
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  const link = useSteppedUp(
    (issuerId: string) => call('POST /portal/api/identities', { body: { issuer_id: issuerId } }),
    ({ url }) => location.assign(url),
  );
  const remove = useSteppedUp(
    (id: string) => call('DELETE /portal/api/identities/{id}', { params: { id } }),
    reloadAccount,
  );
  const identities = factors?.identities ?? [];
  const returned = RETURNS[location.hash.slice(1)];
  if (!options || (options.issuers.length === 0 && identities.length === 0)) return null;
  return (
    <Card
      title="Linked accounts"
      lead="Sign in with an account that you have elsewhere."
      action={
        <div className="flex flex-wrap gap-2">
          {options.issuers.map(({ id, name }) => (
            <Button key={id} isBusy={link.isPending && link.variables === id} onClick={() => link.mutate(id)}>
              <Link2 aria-hidden className="size-4" />
              Link {name}
            </Button>
          ))}
        </div>
      }
    >
      {returned && <Callout tone={returned[0]}>{returned[1]}</Callout>}
      <ul className="divide-y divide-line">
        {identities.map(({ id, issuer, created_at: createdAt }) => (
          <li key={id} className="flex items-center justify-between gap-3 py-3 text-sm">
            <span className="min-w-0">
              <span className="font-medium">{issuer}</span>{' '}
              <span className="text-muted">
                since <When at={createdAt} />
              </span>
            </span>
            <Button
              look="danger"
              aria-label={`Unlink ${issuer}`}
              isBusy={remove.isPending && remove.variables === id}
              onClick={() => remove.mutate(id)}
            >
              Unlink
            </Button>
          </li>
        ))}
      </ul>
      <FormFault error={link.error ?? remove.error} />
      {link.dialog}
      {remove.dialog}
    </Card>
  );
}
