import type { FirstTenant } from '../first-start.js';

/** Shown once, at the first start. The key is stored nowhere else. */
export function greeting(first: FirstTenant, address: string): string {
  const key = first.isPreset ? '$STRONGROOM_BOOTSTRAP_API_KEY' : first.key.reveal();
  const keyLine = first.isPreset ? 'the one in STRONGROOM_BOOTSTRAP_API_KEY' : `${key}   (shown only now: keep it)`;
  return `
Welcome to Strongroom. This is the first start on an empty database.

  Address   ${address}
  Tenant    ${first.tenantId}
  API key   ${keyLine}

Try it:

  curl -H "SVC-API-KEY: ${key}" ${address}/tenants/self

API reference: ${address}/docs
`;
}
