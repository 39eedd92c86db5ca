import { randomUUID } from 'node:crypto';
import type { PortalOfTenant } from './tenant-pages-fixture.js';

/** What no page, answer, address or storage of the Portal may hold. */
export const CANARY = '4242424242424242';
const SECOND_CANARY = 'canary-of-the-vault-7f3a';
export const CANARIES = [CANARY, SECOND_CANARY] as const;

/** Addresses of the pages behind `/portal/`, with things of a tenant that has some of everything. */
export interface EveryPage {
  /** For who is not signed in. */
  readonly outside: readonly string[];
  /** For a member. */
  readonly inside: readonly string[];
  readonly applicationId: string;
  readonly tokenId: string;
  readonly reactorId: string;
  readonly proxyId: string;
}

/** `text` stands wherever a tenant can write one. */
export async function fillForPages({ mailed: { app }, tenant }: PortalOfTenant, text = 'Checkout'): Promise<EveryPage> {
  const send = async (path: string, body: unknown, key = tenant.key) => {
    const { status, json } = await app.call('POST', path, { key, body });
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  };
  const application = await send('/applications', {
    name: text,
    type: 'private',
    permissions: ['token:create', 'token:read', 'token:search', 'token:use'],
  });
  await send('/tokens', { type: 'card_number', data: CANARY, metadata: { [text]: text } }, application.key);
  const token = await send(
    '/tokens',
    { type: 'token', data: SECOND_CANARY, containers: ['/pii/high/'], metadata: { [text]: text } },
    application.key,
  );
  await app.call('GET', `/tokens/${token.id}`, { key: application.key });
  await send('/tenants/self/invitations', { email: `${randomUUID()}@example.com` });
  const reactor = await send('/reactors', {
    name: text,
    code: `module.exports = () => ({ raw: ${JSON.stringify(text)} });`,
    configuration: { GREETING: text },
  });
  const proxy = await send('/proxies', { name: text, destination_url: 'https://destination.example.com/' });
  const tenantPages = [
    ...['overview', 'tokens', `tokens/${token.id}`, 'tokens?show=newest', 'logs', 'usage', 'members', 'settings'],
    ...['applications', 'applications/new', 'applications/new?type=private', `applications/${application.id}`],
    ...['reactors', 'reactors/new', `reactors/${reactor.id}`, 'proxies', 'proxies/new', `proxies/${proxy.id}`],
  ];
  return {
    outside: [
      ...['sign-in', 'set-up', 'invitations/accept', 'forgotten-password', 'reset-password', 'confirm-email'],
      'nowhere',
    ],
    ...{ applicationId: application.id, tokenId: token.id, reactorId: reactor.id, proxyId: proxy.id },
    inside: ['tenants', 'account', ...tenantPages.map((page) => `tenants/${tenant.id}/${page}`)],
  };
}
