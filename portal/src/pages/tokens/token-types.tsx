import type { PortalToken } from '../../api/generated.js';
import { Badge } from '../../ui/badge.js';

const TEXTS: Readonly<Record<PortalToken['type'], string>> = {
  token: 'Token',
  card: 'Card',
  bank: 'Bank',
  card_number: 'Card number',
  us_bank_account_number: 'US bank account number',
  us_bank_routing_number: 'US bank routing number',
  social_security_number: 'Social security number',
  employer_id_number: 'Employer ID number',
};

export function TokenTypeBadge({ type }: { readonly type: PortalToken['type'] }) {
  return <Badge tone="accent">{TEXTS[type]}</Badge>;
}

export function ContainerNames({ containers }: { readonly containers: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {containers.map((container) => (
        <li key={container} className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[13px] break-all">
          {container}
        </li>
      ))}
    </ul>
  );
}
