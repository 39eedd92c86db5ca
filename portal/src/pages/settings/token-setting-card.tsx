import type { Tenant } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { FormFault } from '../../ui/form.js';
import { useTenantUpdate } from './use-tenant-settings.js';

interface TokenSetting {
  readonly name: 'fingerprint_tokens' | 'deduplicate_tokens';
  readonly title: string;
  readonly lead: string;
  /** What it does, on and off. */
  readonly on: string;
  readonly off: string;
}

export const TOKEN_SETTINGS: readonly TokenSetting[] = [
  {
    name: 'fingerprint_tokens',
    title: 'Fingerprints',
    lead: 'The same value has the same fingerprint, so that it can be recognized without being read.',
    on: 'Every token that is created or changed from now on has one, by the default expression of its type or by its own.',
    off: 'Only a token that sets an expression has one. Fingerprints that are there stay.',
  },
  {
    name: 'deduplicate_tokens',
    title: 'Deduplication',
    lead: 'Whether a value that is stored already is stored once more.',
    on: 'A create or change with a value that a live token has answers with that token, and stores nothing new.',
    off: 'Every create makes a token. A request can still ask for deduplication itself.',
  },
];

export function TokenSettingCard({ setting, tenant }: { readonly setting: TokenSetting; readonly tenant: Tenant }) {
  const { mayChange } = useTenant();
  const update = useTenantUpdate(tenant);
  const isOn = tenant.settings[setting.name] === 'true';
  return (
    <Card
      title={setting.title}
      lead={setting.lead}
      action={
        mayChange && (
          <Button
            isBusy={update.isPending}
            onClick={() => update.mutate({ name: tenant.name, settings: { [setting.name]: isOn ? 'false' : 'true' } })}
          >
            Turn {isOn ? 'off' : 'on'}
            <span className="sr-only">{setting.title.toLowerCase()}</span>
          </Button>
        )
      }
    >
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-sm">
        <Badge tone={isOn ? 'ok' : 'plain'}>{isOn ? 'On' : 'Off'}</Badge>
        <p className="min-w-0 flex-1 basis-64 text-muted">{isOn ? setting.on : setting.off}</p>
      </div>
      <FormFault error={update.error} />
      {update.dialog}
    </Card>
  );
}
