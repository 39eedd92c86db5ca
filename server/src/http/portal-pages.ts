import { join } from 'node:path';
import { SITE } from '@strongroom/portal/paths.js';
import { folderFiles } from './routes/page-folder.js';
import type { PageRoute } from './routes/page-route.js';
import { definePage } from './routes/page-route.js';

/** Everything comes from here, nothing is inline, no frame shows it, and no text becomes a script. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'";

/** For browsers that know less of the policy, and for what it does not cover. */
const HEADERS = [
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
];

/** The pages of the Portal, as its build left them. */
export function portalPages(site = SITE): PageRoute[] {
  const base = { permission: 'public', admits: 'anyone', limits: [], policy: POLICY, headers: HEADERS } as const;
  const find = folderFiles(site);
  return [
    // Their names have a hash of what they say.
    definePage({ ...base, path: '/portal/assets/*', cache: 'for good', find: folderFiles(join(site, 'assets')) }),
    definePage({
      ...base,
      path: '/portal/*',
      cache: 'revalidate',
      find: ({ name, accept }) => find({ name: isPage(name) ? '' : name, accept }),
    }),
  ];
}

/**
 * Which page it is the script decides by the address. A file has an ending, and calls are none of them. There are no files below
 * `tenants`: what has a dot there is an id of a tenant's own choice.
 */
function isPage(name: string): boolean {
  if (name.startsWith('tenants/')) return true;
  return !name.includes('.') && name !== 'api' && !name.startsWith('api/');
}
