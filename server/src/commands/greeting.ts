import type { Beginning, FirstTenant } from '../first-start.js';
import { OPERATOR_LINK_HOURS } from '../people/links/links.js';

/** What a start prints: all of it at the first, a new link at later ones until the owner can sign in, then nothing. */
export function greetingOf({ tenant, portal, setUpLink }: Beginning, address: string): string | undefined {
  const link = setUpLink?.reveal();
  if (tenant) return greeting(tenant, { address, portal, link });
  return link && notice(link);
}

interface Places {
  readonly address: string;
  readonly portal: string;
  /** Where the owner sets up its sign-in. */
  readonly link: string | undefined;
}

/** Shown once, at the first start. The key is stored nowhere else. */
function greeting(first: FirstTenant, { address, portal, link }: Places): string {
  const key = first.isPreset ? '$STRONGROOM_BOOTSTRAP_API_KEY' : first.key.reveal();
  const keyLine = first.isPreset ? 'the one in STRONGROOM_BOOTSTRAP_API_KEY' : `${key}   (shown only now: keep it)`;
  return `
Welcome to Strongroom. This is the first start on an empty database.

  Address   ${address}
  Portal    ${portal}
  Tenant    ${first.tenantId}
  API key   ${keyLine}
  Owner     ${link ? `${link}\n            ${HOW_LONG}` : 'the one in STRONGROOM_OWNER_EMAIL'}

Try it:

  curl -H "SVC-API-KEY: ${key}" ${address}/tenants/self

API reference: ${address}/docs
`;
}

const HOW_LONG = `(sets up the owner's sign-in; works once, for ${OPERATOR_LINK_HOURS} hours at most)`;

function notice(link: string): string {
  return `
The owner of the first Tenant cannot sign in to the Portal yet. This link sets that up; links of earlier starts are dead.

  Owner     ${link}
            ${HOW_LONG}
`;
}
