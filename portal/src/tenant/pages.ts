import type { LucideIcon } from 'lucide-react';
import { Activity, AppWindow, Boxes, CreditCard, KeySquare, Network, ScrollText, Settings2, Users } from 'lucide-react';

type PageName =
  | 'overview'
  | 'tokens'
  | 'applications'
  | 'reactors'
  | 'proxies'
  | 'logs'
  | 'usage'
  | 'members'
  | 'settings';

export interface TenantPage {
  readonly to: `/tenants/$tenantId/${PageName}`;
  readonly text: string;
  readonly icon: LucideIcon;
  /** The second of the two keys that open it, behind `g`. */
  readonly key: string;
}

const page = (path: PageName, text: string, icon: LucideIcon, key: string): TenantPage => ({
  to: `/tenants/$tenantId/${path}`,
  text,
  icon,
  key,
});

/** The pages of a tenant, as the navigation, the palette and the keyboard offer them. */
export const TENANT_PAGES: readonly { readonly title: string; readonly pages: readonly TenantPage[] }[] = [
  {
    title: 'Vault',
    pages: [
      page('overview', 'Overview', Activity, 'o'),
      page('tokens', 'Tokens', KeySquare, 't'),
      page('applications', 'Applications', AppWindow, 'a'),
    ],
  },
  {
    title: 'Code',
    pages: [page('reactors', 'Reactors', Boxes, 'r'), page('proxies', 'Proxies', Network, 'p')],
  },
  {
    title: 'Record',
    pages: [page('logs', 'Logs', ScrollText, 'l'), page('usage', 'Usage', CreditCard, 'u')],
  },
  {
    title: 'Tenant',
    pages: [page('members', 'Members', Users, 'm'), page('settings', 'Settings', Settings2, 's')],
  },
];
