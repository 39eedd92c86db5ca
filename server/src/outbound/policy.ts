import type { IpAddress } from '../limits/ip-address.js';
import { type Destination, defaultPort } from './destination.js';
import type { RefusalReason } from './outbound-error.js';
import { isInternalAddress, isPublicAddress, readAddress, textOfAddress } from './public-address.js';
import { isOnWay, namesAddress, namesHost, type OutboundRule } from './rules.js';

/** Whether addresses of the internet may be reached without a rule that names them. */
export type PublicAccess = 'allowed' | 'refused';

export interface OutboundRules {
  readonly allow: readonly OutboundRule[];
  readonly deny: readonly OutboundRule[];
  readonly public: PublicAccess;
}

/** What the operator says about one tenant: lists beside the common ones, and a word in place of the common one. */
export type TenantOutboundRules = Pick<OutboundRules, 'allow' | 'deny'> & { readonly public: PublicAccess | undefined };

/** In place of a tenant's id, which is a UUID: requests that the product makes for itself. */
export const PRODUCT_CALLER = 'strongroom';

/** Nothing: what the product may reach is what the operator named for it. */
export const NO_OUTBOUND_RULES: OutboundRules = { allow: [], deny: [], public: 'refused' };

/** An address that was judged, and may be dialled. Only `vet` makes them. */
export interface VettedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** What a tenant may reach. It must be asked both questions for every new connection, and the first for every request. */
export interface OutboundPolicy {
  /** What is wrong with the destination before any name is resolved. */
  refusal(destination: Destination): RefusalReason | undefined;
  /** All addresses of the destination as they may be dialled; or why not, if only one of them is not allowed. */
  vet(destination: Destination, addresses: readonly string[]): readonly VettedAddress[] | RefusalReason;
  /** Whether the operator named this host: its name is then resolved as this machine resolves names. */
  isNamed(destination: Destination): boolean;
}

export function createOutboundPolicy(
  common: OutboundRules,
  byTenant: ReadonlyMap<string, TenantOutboundRules>,
  ofProduct: OutboundRules = NO_OUTBOUND_RULES,
): (tenantId: string) => OutboundPolicy {
  const ofOthers = policyOf(common);
  const policies = new Map(
    [...byTenant].map(([tenantId, own]) => [
      tenantId,
      policyOf({
        allow: [...common.allow, ...own.allow],
        deny: [...common.deny, ...own.deny],
        public: own.public ?? common.public,
      }),
    ]),
  );
  // By itself, without the common lists: they are about code of tenants. What is denied to that may be the product's own, and
  // what is allowed to that is none of the product's business.
  policies.set(PRODUCT_CALLER, policyOf(ofProduct));
  return (tenantId) => policies.get(tenantId) ?? ofOthers;
}

function policyOf(rules: OutboundRules): OutboundPolicy {
  const isNamed = (destination: Destination): boolean =>
    rules.allow.some((rule) => isOnWay(rule, destination) && namesHost(rule, destination));

  /** Public destinations need no rule on the one way that is open to all. */
  const isOpenWay = ({ isPlain, port }: Destination): boolean =>
    rules.public === 'allowed' && !isPlain && port === defaultPort(false);

  function refusalOfAddress(destination: Destination, address: IpAddress): RefusalReason | undefined {
    const isAbout = (rule: OutboundRule): boolean => isOnWay(rule, destination) && namesAddress(rule, address);
    if (rules.deny.some(isAbout)) return 'denied';
    if (rules.allow.some(isAbout)) return undefined;
    const isPublic = isPublicAddress(address);
    if (isPublic && isOpenWay(destination)) return undefined;
    // Of addresses that are neither, such as link-local ones, nobody thought who named a host: they take a rule that names
    // the address.
    return isNamed(destination) && (isPublic || isInternalAddress(address)) ? undefined : 'address';
  }

  function refusal(destination: Destination): RefusalReason | undefined {
    if (rules.deny.some((rule) => isOnWay(rule, destination) && namesHost(rule, destination))) return 'denied';
    // A rule on a range may hold for the addresses of this name, which are not known yet. Where the internet is closed no
    // name is asked for that the operator did not name: a question to a name server carries whatever the name says.
    const mayBeInRange = rules.public === 'allowed' || destination.address !== undefined;
    const isListed =
      isNamed(destination) ||
      (mayBeInRange && rules.allow.some((rule) => isOnWay(rule, destination) && 'range' in rule.names));
    if (!isOpenWay(destination) && !isListed) {
      if (destination.isPlain) return 'scheme';
      return destination.port === defaultPort(false) ? 'not_listed' : 'port';
    }
    return destination.address === undefined ? undefined : refusalOfAddress(destination, destination.address);
  }

  return {
    refusal,
    isNamed,
    vet(destination, texts) {
      const vetted: VettedAddress[] = [];
      for (const text of texts) {
        const address = readAddress(text);
        const reason = address === null ? 'address' : refusalOfAddress(destination, address);
        if (address === null || reason !== undefined) return reason ?? 'address';
        vetted.push({ address: textOfAddress(address), family: address.length === 1 ? 4 : 6 });
      }
      return vetted.length === 0 ? 'unresolved' : vetted;
    },
  };
}
