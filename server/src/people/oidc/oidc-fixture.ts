import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import type { OpenIdIssuer } from '@strongroom/test-servers/openid-issuer.js';
import { startOpenIdIssuer } from '@strongroom/test-servers/openid-issuer.js';
import { systemClock } from '../../kernel/clock.js';
import { Secret } from '../../kernel/secret.js';
import type { Way } from '../../outbound/outbound-fixture.js';
import { wayOut } from '../../outbound/outbound-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { OidcIssuer } from './issuers-file.js';
import { outboundRulesOf } from './issuers-file.js';
import type { Oidc } from './oidc.js';
import { createOidc } from './oidc.js';

export const OIDC_PORTAL = 'https://vault.example.com';
/** The last one is of a host whose documents the library lets name another issuer. All of them are on loopback. */
const HOSTS = ['a.test', 'b.test', 'c.test', 'x.b2clogin.com'];
const NAMES = Object.fromEntries(HOSTS.map((host) => [host, ['127.0.0.1']]));
const CLIENTS = { portal: 'hush', other: 'other-secret' };

/** Two issuers on loopback with TLS: `a` signs with RS256, `b` with ES256. */
export interface IssuerPair {
  readonly a: OpenIdIssuer;
  readonly b: OpenIdIssuer;
  readonly authority: string;
  close(): Promise<void>;
}

export async function startIssuerPair(): Promise<IssuerPair> {
  const folder = await mkdtemp('/tmp/sr-oidc-issuers-');
  const certificates = certificatesIn(folder);
  await certificates.makeAuthority('authority');
  await certificates.makeCertificate('issuer', 'authority', 'a.test', HOSTS.map((host) => `DNS:${host}`).join());
  const read = (name: string) => readFile(certificates.file(name), 'utf8');
  const [key, cert, authority] = await Promise.all(['issuer.key', 'issuer.pem', 'authority.pem'].map(read));
  const tls = { key: key ?? '', cert: cert ?? '', clients: CLIENTS };
  const a = await startOpenIdIssuer({ host: 'a.test', algorithm: 'RS256', ...tls });
  const b = await startOpenIdIssuer({ host: 'b.test', algorithm: 'ES256', ...tls });
  return {
    a,
    b,
    authority: authority ?? '',
    async close() {
      await Promise.all([a.close(), b.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface OidcTrial {
  readonly oidc: Oidc;
  readonly clock: FakeClock;
  readonly way: Way;
  readonly issuers: readonly OidcIssuer[];
}

/** A product that knows both issuers, as `a` and `b`, and has asked neither of them yet. */
export function oidcTrial(
  { a, b, authority }: IssuerPair,
  changes: Partial<OidcIssuer> = {},
  timeoutMs = 60_000,
): OidcTrial {
  const issuers = [{ ...issuerOf('a', a.url), ...changes }, issuerOf('b', b.url)];
  const clock = createFakeClock(systemClock.nowMs());
  const way = wayOut({
    names: NAMES,
    authorities: [authority],
    // What tenants may or may not reach does not count.
    deny: ['127.0.0.0/8', 'a.test', 'b.test'],
    allow: ['c.test'],
    product: outboundRulesOf(issuers),
  });
  const oidc = createOidc({ issuers, portalUrl: () => OIDC_PORTAL, outbound: way, clock, timeoutMs });
  return { oidc, clock, way, issuers };
}

function issuerOf(id: string, url: string): OidcIssuer {
  return {
    id,
    name: `Issuer ${id}`,
    issuer: new URL(url).href,
    clientId: 'portal',
    clientSecret: new Secret('hush'),
    scopes: ['openid', 'email'],
    hosts: [],
    hasSecondFactor: false,
  };
}

/** Back to an honest issuer. */
export function stopLying({ a, b }: IssuerPair): void {
  for (const { lies, asked } of [a, b]) {
    for (const name of Object.keys(lies) as (keyof typeof lies)[]) delete lies[name];
    asked.length = 0;
  }
}
