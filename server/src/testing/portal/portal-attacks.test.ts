// needs: chromium

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { secretIn } from '../../resources/portal/mailbox-fixture.js';
import { openBrowser, PASSWORD } from '../../resources/portal/portal-fixture.js';
import { fillForPages } from './every-page-fixture.js';
import { OTHER_NAME, signInOn } from './portal-page-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

/** Each is harmless as a text, and shows itself if it is taken for anything else. */
const HOSTILE = `<img src=x onerror="window.taken=1">'"><svg/onload=window.taken=1>{{taken}}`;

/** A site of somebody else, with one page. */
async function startOtherSite(page: (portalOrigin: string) => string, portalOrigin: string) {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(page(portalOrigin));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${OTHER_NAME}:${port}/`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe('attacks on the Portal in a real browser', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit('OWNER');
    // By its page, so that the cookie is the one that a browser gets.
    await signInOn(ann, ann.email, PASSWORD);
    await ann.page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
  afterEach(() => ann.close());

  const origin = () => new URL(ann.portal).origin;

  /** Signs somebody in whose names are hostile: an invitation lets everybody choose them. */
  async function enterAsHostile(): Promise<void> {
    const { mailed, tenant } = portal;
    const email = `${randomUUID()}@example.com`;
    await mailed.app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email, role: 'ADMIN' } });
    const secret = secretIn(await mailed.mailsTo(email, 1), 'invitations/accept');
    const body = { secret, first_name: HOSTILE, last_name: HOSTILE, password: PASSWORD };
    const { status } = await openBrowser(mailed.app).call('POST', '/portal/api/invitations/register', body);
    assert.equal(status, 200);
    await ann.click('Sign out');
    await signInOn(ann, email, PASSWORD);
    await ann.page.getByRole('button', { name: 'Sign out' }).waitFor();
  }
  async function assertTextOnly(where: string): Promise<void> {
    assert.equal(await ann.page.evaluate('window.taken'), undefined, where);
    assert.equal(await ann.page.locator('img[src="x"], svg[onload]').count(), 0, where);
    assert.deepEqual(ann.faults, [], where);
  }

  it('takes every text that a tenant can write for a text, on every page', async () => {
    const { inside, ...ids } = await fillForPages(portal, HOSTILE);
    await enterAsHostile();
    const showing: string[] = [];
    for (const path of inside) {
      await ann.page.goto(`${ann.portal}/${path}`);
      await ann.page.getByRole('heading', { level: 1 }).first().waitFor();
      await ann.page.waitForLoadState('networkidle');
      await assertTextOnly(path);
      if (String(await ann.page.textContent('main')).includes(HOSTILE)) showing.push(path);
    }
    const expected = [
      ...['overview', 'applications', 'reactors', 'proxies', 'members', 'tokens?show=newest', `tokens/${ids.tokenId}`],
      ...[`applications/${ids.applicationId}`, `reactors/${ids.reactorId}`, `proxies/${ids.proxyId}`],
    ].map((page) => `tenants/${portal.tenant.id}/${page}`);
    assert.deepEqual(
      expected.filter((path) => !showing.includes(path)),
      [],
      'what was planted is shown',
    );
  });

  it('takes the names of people for texts where somebody is chosen or removed', async () => {
    await enterAsHostile();
    const name = `${HOSTILE} ${HOSTILE}`;
    await ann.click('Sign out');
    await signInOn(ann, ann.email, PASSWORD);
    await ann.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await ann.open('members');
    await ann.page
      .getByRole('button', { name: `Change ${name}`, exact: true })
      .first()
      .click();
    await ann.page.getByRole('menuitem', { name: 'Remove' }).click();
    await ann.page.getByRole('heading', { name: `Remove ${name}?` }).waitFor();
    await assertTextOnly('a dialog');
    await ann.open('settings');
    await ann.click('Give away');
    await ann.page.getByLabel('New owner').selectOption({ label: name });
    await assertTextOnly('a list');
  });

  it('has no container that could be more than a path, and shows one that was asked for as a text', async () => {
    const { app } = portal.mailed;
    const key = await app.makeKey(portal.tenant.id, 'private', ['token:create']);
    const body = { type: 'token', data: 'x', containers: [`/${HOSTILE}/`] };
    assert.equal((await app.call('POST', '/tokens', { key, body })).status, 400);
    const query = `container:"/${HOSTILE.replaceAll('"', '')}/"`;
    await ann.open(`tokens?q=${encodeURIComponent(query)}`);
    await ann.page.getByLabel('Id or search').and(ann.page.locator(':not([value=""])')).waitFor();
    await ann.page.waitForLoadState('networkidle');
    assert.equal(await ann.page.getByLabel('Id or search').inputValue(), query);
    await assertTextOnly('a search');
  });

  it('stands in no frame of another site', async () => {
    const site = await startOtherSite((at) => `<iframe src="${at}/portal/sign-in"></iframe>`, origin());
    const page = await ann.context.newPage();
    await page.goto(site.url, { waitUntil: 'networkidle' });
    const [frame] = page.frames().filter((each) => each !== page.mainFrame());
    assert.ok(frame);
    assert.equal(await frame.getByRole('heading').count(), 0);
    await site.close();
  });

  it('does nothing that another site asks for in the name of who is signed in', async () => {
    const attack = (at: string) => `<script>
      const url = '${at}/portal/api/tenants';
      const body = JSON.stringify({ name: 'Taken' });
      const ways = [
        { method: 'POST', body, mode: 'no-cors', credentials: 'include', headers: { 'Content-Type': 'text/plain' } },
        { method: 'POST', body, credentials: 'include', headers: { 'Content-Type': 'application/json' } },
      ];
      Promise.all(ways.map((way) => fetch(url, way).then((a) => a.type, (e) => e.name))).then((all) => {
        document.title = all.join();
      });
    </script>
    <form action="${at}/portal/api/tenants" method="post" enctype="text/plain" target="there">
      <input name='{"name":"Taken","x":"' value='"}'></form>
    <iframe name="there"></iframe><script>document.forms[0].submit()</script>`;
    const site = await startOtherSite(attack, origin());
    const page = await ann.context.newPage();
    await page.goto(site.url, { waitUntil: 'networkidle' });
    await page.waitForFunction('document.title !== ""');
    assert.equal(await page.title(), 'TypeError,TypeError', 'no answer can be read');
    await ann.page.goto(`${ann.portal}/tenants`);
    await ann.page.getByRole('heading', { name: 'Your tenants' }).waitFor();
    assert.equal(await ann.page.getByText('Taken').count(), 0);
    await site.close();
  });

  /** Every way in which a page can have a browser ask for an address with cookies. */
  const asksFor = (urls: readonly string[]) => `<script>
    const ways = {
      image: (url) => new Promise((end) => {
        Object.assign(new Image(), { onload: end, onerror: end, src: url });
      }),
      frame: (url) => new Promise((end) => {
        document.body.append(Object.assign(document.createElement('iframe'), { onload: end, src: url }));
      }),
      read: (url) => fetch(url, { credentials: 'include' }),
      send: (url) => fetch(url, { credentials: 'include', mode: 'no-cors' }),
      follow: (url) => new Promise((end, fail) => {
        const source = new EventSource(url, { withCredentials: true });
        source.onopen = end;
        source.onerror = () => { source.close(); fail(new Error()); };
      }),
    };
    const had = [];
    addEventListener('load', async () => {
      for (const url of ${JSON.stringify(urls)}) {
        for (const [way, ask] of Object.entries(ways)) {
          await ask(url).then(() => way === 'read' || way === 'follow' ? had.push(way + ' ' + url) : 0, () => {});
        }
      }
      document.title = 'had: ' + had.join();
    });
  </script><body></body>`;

  it('looks at nothing and exports nothing that another origin asks for: the log has no entry', async () => {
    const { app } = portal.mailed;
    const { tokenId } = await fillForPages(portal);
    await ann.open('logs');
    await ann.page.waitForLoadState('networkidle');
    const api = `${origin()}/portal/api/tenants/${portal.tenant.id}`;
    const urls = [`${api}/logs/export?format=csv`, `${api}/logs/export?format=ndjson`, `${api}/tokens/${tokenId}`];
    const tail = `${api}/logs/tail`;
    const entries = async () =>
      (await app.db.owner.query('SELECT id FROM logs WHERE tenant_id = $1', [portal.tenant.id])).rows.length;
    const before = await entries();
    const site = await startOtherSite(() => asksFor([...urls, tail]), origin());
    // Of the two only the second one gets the cookie: another port is the same site.
    for (const url of [site.url, site.url.replace(OTHER_NAME, 'localhost')]) {
      const page = await ann.context.newPage();
      await page.goto(url);
      await page.waitForFunction('document.title !== ""');
      assert.equal(await page.title(), 'had:', url);
      await page.close();
    }
    assert.equal(await entries(), before);
    for (const url of urls) {
      const status = await ann.page.evaluate(
        `fetch('${url}').then((answer) => answer.text().then(() => answer.status))`,
      );
      assert.equal(status, 200, 'pages of the Portal may');
    }
    assert.equal(await entries(), before + urls.length);
    await site.close();
  });

  it('has no session that a script could take away', async () => {
    const [stored, cookie] = (await ann.page.evaluate(
      '[JSON.stringify([{ ...localStorage }, { ...sessionStorage }]), document.cookie]',
    )) as [string, string];
    assert.equal(cookie, '');
    const cookies = await ann.context.cookies();
    assert.deepEqual(
      cookies.map(({ name, httpOnly, secure, sameSite }) => [name, httpOnly, secure, sameSite]).sort(),
      ['__Host-strongroom_device', '__Host-strongroom_session'].map((name) => [name, true, true, 'Strict']),
    );
    for (const { value } of cookies) assert.ok(!stored.includes(value));
  });

  it('ends a session everywhere at once when it is signed out, also in another tab', async () => {
    const other = await ann.context.newPage();
    await other.goto(`${ann.portal}/account`);
    await other.getByRole('heading', { name: 'Your account' }).waitFor();
    const kept = await ann.context.cookies();
    await ann.click('Sign out');
    await ann.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await ann.context.addCookies(kept);
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
