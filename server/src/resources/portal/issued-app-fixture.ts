import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IssuerPair } from '../../people/oidc/oidc-fixture.js';
import { startIssuerPair } from '../../people/oidc/oidc-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser, Person } from './portal-fixture.js';
import { openBrowser } from './portal-fixture.js';

export const BEGIN = '/portal/api/oidc/begin';
export const IDENTITIES = '/portal/api/identities';
export const ERRAND = '__Host-strongroom_oidc';

export type IssuerName = 'a' | 'b';

/** A browser that is sent to an issuer. */
export interface Away {
  readonly url: string;
  /** What the browser keeps. */
  readonly kept: string;
}

/** An app with two issuers, of which the second asks for a second factor itself. */
export interface IssuedApp {
  readonly app: TestApp;
  readonly clock: FakeClock;
  readonly pair: IssuerPair;
  readonly ids: Readonly<Record<IssuerName, string>>;
  goAway(browser: Browser, path: string, body: unknown): Promise<Away>;
  /** A navigation that the issuer began: of the cookies only the one that is Lax comes with it. */
  comeBack(
    callback: string,
    kept: string | undefined,
    browser?: Browser,
  ): Promise<{ readonly location: string | null; readonly session: string | undefined }>;
  /** Where the browser ends. */
  link(person: Person, issuer: IssuerName, subject: string): Promise<string | null>;
  signIn(
    issuer: IssuerName,
    subject: string,
    claims?: object,
  ): Promise<{ readonly browser: Browser; readonly location: string | null; readonly session: string | undefined }>;
  close(): Promise<void>;
}

export async function startIssuedApp(more: Readonly<Record<string, string>> = {}): Promise<IssuedApp> {
  const folder = await mkdtemp('/tmp/sr-issuers-');
  const pair = await startIssuerPair();
  const clock = createFakeClock(Date.now());
  const app = await startTestApp({
    clock,
    env: { ...(await settingsIn(folder, pair)), ...more },
    outboundWay: { resolve: async () => ['127.0.0.1'] },
  });
  const { issuers } = (await openBrowser(app).call('GET', '/portal/api/sign-in-options')).json;
  const ids = { a: issuers[0].id, b: issuers[1].id };
  const goAway: IssuedApp['goAway'] = async (browser, path, body) => {
    const { status, json, headers } = await browser.call('POST', path, body);
    assert.equal(status, 200, JSON.stringify(json));
    const [cookie = ''] = headers.getSetCookie();
    assert.match(cookie, /^__Host-strongroom_oidc=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=600$/);
    return { url: json.url, kept: cookie.slice(0, cookie.indexOf(';')) };
  };
  const comeBack: IssuedApp['comeBack'] = (callback, kept, browser) => returned(app.baseUrl, callback, kept, browser);
  return {
    ...{ app, clock, pair, ids, goAway, comeBack },
    async link(person, id, subject) {
      const { url, kept } = await goAway(person.browser, IDENTITIES, { issuer_id: ids[id] });
      const claims = { sub: subject, auth_time: Math.floor(clock.nowMs() / 1_000) };
      return (await comeBack(pair[id].agree(url, claims), kept)).location;
    },
    async signIn(id, subject, claims = {}) {
      const browser = openBrowser(app);
      const { url, kept } = await goAway(browser, BEGIN, { issuer_id: ids[id] });
      return { browser, ...(await comeBack(pair[id].agree(url, { sub: subject, ...claims }), kept, browser)) };
    },
    async close() {
      await app.close();
      await pair.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function settingsIn(folder: string, pair: IssuerPair) {
  const entries = [pair.a, pair.b].map(({ url }, index) => ({
    ...{ name: `Issuer ${index}`, issuer: url, client_id: 'portal', client_secret: 'hush' },
    ...(index === 1 && { second_factor: true }),
  }));
  await writeFile(join(folder, 'issuers.json'), JSON.stringify(entries));
  await writeFile(join(folder, 'authority.pem'), pair.authority);
  return {
    STRONGROOM_OIDC_ISSUERS_FILE: join(folder, 'issuers.json'),
    STRONGROOM_OUTBOUND_CA_FILE: join(folder, 'authority.pem'),
  };
}

async function returned(baseUrl: string, callback: string, kept: string | undefined, browser: Browser | undefined) {
  const { pathname, search } = new URL(callback);
  const response = await fetch(`${baseUrl}${pathname}${search}`, {
    redirect: 'manual',
    headers: { 'Sec-Fetch-Site': 'cross-site', ...(kept !== undefined && { Cookie: kept }) },
  });
  const cookies = response.headers.getSetCookie();
  assert.equal(await response.text(), '');
  assert.equal(response.status, 303);
  assert.match(cookies[0] ?? '', new RegExp(`^${ERRAND}=; .*Max-Age=0$`), 'forgotten with the first answer');
  const session = cookies.find((line) => line.startsWith('__Host-strongroom_session='));
  if (session !== undefined && browser) browser.cookie = session.slice(0, session.indexOf(';'));
  return { location: response.headers.get('location'), session };
}
