import type { PortalMembership } from '../api/generated.js';
import { notForAddress } from '../tenant/address-text.js';
import { TENANT_PAGES } from '../tenant/pages.js';

export interface Offer {
  readonly key: string;
  readonly text: string;
  readonly kind: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Ids of a tenant's own choice may have more forms; those are found on the page of tokens. */
const OWN_ID = /^[\w-]{3,255}$/;

/** Whether it may be the id of anything but a token, which can have other forms. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** Where somebody may want to go who typed or pasted this. `page`: the page of what has this id, where that is known. */
export function offersFor(
  typed: string,
  tenantId: string | undefined,
  memberships: readonly PortalMembership[],
  page: string | undefined,
): readonly Offer[] {
  const text = typed.trim();
  const matching = [...pagesOf(tenantId), ...tenantsOf(memberships), ACCOUNT, ALL].filter((offer) =>
    offer.text.toLowerCase().includes(text.toLowerCase()),
  );
  if (tenantId === undefined) return matching;
  const isPage = ({ to }: Offer) => to === `/tenants/${tenantId}/${page}`;
  return [...matching, ...byId(text, tenantId).toSorted((a, b) => Number(isPage(b)) - Number(isPage(a)))];
}

const ACCOUNT: Offer = { key: 'account', text: 'Your account', kind: 'You', to: '/account' };
const ALL: Offer = { key: 'tenants', text: 'All tenants', kind: 'You', to: '/tenants' };

function pagesOf(tenantId: string | undefined): readonly Offer[] {
  if (tenantId === undefined) return [];
  return TENANT_PAGES.flatMap(({ pages }) => pages).map(({ to, text }) => ({
    key: to,
    text,
    kind: 'Page',
    to: to.replace('$tenantId', tenantId),
  }));
}

function tenantsOf(memberships: readonly PortalMembership[]): readonly Offer[] {
  return memberships.map(({ tenant_id: id, name }) => ({
    key: id,
    text: name,
    kind: 'Tenant',
    to: `/tenants/${id}/overview`,
  }));
}

/** What an id may be the id of. */
function byId(text: string, tenantId: string): readonly Offer[] {
  if (!OWN_ID.test(text) || notForAddress(text) !== undefined) return [];
  const at = `/tenants/${tenantId}`;
  const anything: readonly Offer[] = [
    { key: 'id-token', text: `Token ${text}`, kind: 'Id', to: `${at}/tokens/${text}` },
    { key: 'id-log', text: `Log of ${text}`, kind: 'Id', to: `${at}/logs`, search: { entity_id: text } },
  ];
  if (!UUID.test(text)) return anything;
  return [
    ...anything,
    { key: 'id-application', text: `Application ${text}`, kind: 'Id', to: `${at}/applications/${text}` },
    { key: 'id-actor', text: `Acts of ${text}`, kind: 'Id', to: `${at}/logs`, search: { actor_id: text } },
    { key: 'id-reactor', text: `Reactor ${text}`, kind: 'Id', to: `${at}/reactors/${text}` },
    { key: 'id-proxy', text: `Proxy ${text}`, kind: 'Id', to: `${at}/proxies/${text}` },
  ];
}
