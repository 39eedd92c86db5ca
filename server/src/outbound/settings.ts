import type { SettingKind, Settings } from '../kernel/setting.js';
import { integerBetween, listOf, oneOf } from '../kernel/setting.js';
import { readAuthorities } from './authorities-file.js';
import type { TenantOutboundRules } from './policy.js';
import type { OutboundRule } from './rules.js';
import { parseAllowRules, parseDenyRules } from './rules.js';
import { readTenantRules } from './tenant-rules-file.js';

const RULES = 'hosts, `*.` hosts, addresses or networks, each with `:port` or `http://` if needed, separated by commas';
const ALLOW: SettingKind<readonly OutboundRule[]> = { values: RULES, parse: (text) => parseAllowRules(listOf(text)) };
const DENY: SettingKind<readonly OutboundRule[]> = { values: RULES, parse: (text) => parseDenyRules(listOf(text)) };
const TENANTS: SettingKind<ReadonlyMap<string, TenantOutboundRules>> = {
  values: 'path of a JSON file',
  parse: readTenantRules,
};
const AUTHORITIES: SettingKind<readonly string[]> = { values: 'path of a PEM file', parse: readAuthorities };

export const OUTBOUND_SETTINGS = {
  outboundPublic: {
    name: 'STRONGROOM_OUTBOUND_PUBLIC',
    kind: oneOf(['allowed', 'refused']),
    default: 'allowed',
    about: '`refused` lets tenant code reach only what `STRONGROOM_OUTBOUND_ALLOW` or the file of tenants lists',
  },
  outboundAllow: {
    name: 'STRONGROOM_OUTBOUND_ALLOW',
    kind: ALLOW,
    default: '',
    about:
      'What tenant code may reach beside HTTPS on port 443 at public addresses, for example `*.example.internal,http://10.2.0.7:8080`; see [outbound requests](outbound.md)',
  },
  outboundDeny: {
    name: 'STRONGROOM_OUTBOUND_DENY',
    kind: DENY,
    default: '',
    about: 'What tenant code may never reach, whatever is allowed; on every scheme and port unless the rule names one',
  },
  outboundTenants: {
    name: 'STRONGROOM_OUTBOUND_TENANTS_FILE',
    kind: TENANTS,
    default: undefined,
    about: 'Further rules for single tenants ([form](outbound.md#rules-for-one-tenant))',
  },
  outboundAuthorities: {
    name: 'STRONGROOM_OUTBOUND_CA_FILE',
    kind: AUTHORITIES,
    default: undefined,
    about: 'Authorities whose certificates destinations may have, beside the public ones',
  },
  outboundRequestsMax: {
    name: 'STRONGROOM_OUTBOUND_REQUESTS_MAX',
    kind: integerBetween(4, 100_000),
    default: '512',
    about:
      'Outbound requests of one process at once; half of them for one tenant, a quarter for one destination of a tenant',
  },
} satisfies Settings;
