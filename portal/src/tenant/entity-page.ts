import type { Log } from '../api/generated.js';

const PAGES: Readonly<Record<string, string>> = {
  application: 'applications',
  reactor: 'reactors',
  proxy: 'proxies',
  card: 'tokens',
  card_number: 'tokens',
  bank: 'tokens',
  employer_id_number: 'tokens',
  social_security_number: 'tokens',
  token: 'tokens',
  us_bank_account_number: 'tokens',
  us_bank_routing_number: 'tokens',
};

/** Where pages of things of this type are, below the tenant. Lists and calls without a stored Proxy have none. */
export function pageOfEntity({ entity_type: type, entity_id: id, operation }: Log): string | undefined {
  const page = PAGES[type];
  if (page === undefined || id === '*' || operation === 'delete' || (type === 'proxy' && id === 'ephemeral')) return;
  return `${page}/${encodeURIComponent(id)}`;
}

export function pageOfActor({ actor_type: type, actor_id: id }: Log): string | undefined {
  if (id === undefined) return;
  if (type === 'user') return 'members';
  return type === 'application' ? `applications/${encodeURIComponent(id)}` : undefined;
}
