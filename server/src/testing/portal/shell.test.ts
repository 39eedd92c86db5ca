// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { makeMember } from '../../resources/members/member-fixture.js';
import { givePassword, PASSWORD } from '../../resources/portal/portal-fixture.js';
import { signInOn } from './portal-page-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const ID = '5f0c7a7e-26a0-4c39-8a33-0d1f4c1f5a11';

describe('around the pages of the Portal', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit();
    await ann.page.goto(ann.portal);
    await heading('Overview');
  });
  afterEach(() => ann.leave());

  const heading = (name: string) => ann.page.getByRole('heading', { name, level: 1 }).waitFor();

  it('opens the only tenant at once, and says where one is', async () => {
    await heading('Overview');
    assert.match(ann.page.url(), new RegExp(`/portal/tenants/${portal.tenant.id}/overview$`));
    assert.equal(await ann.page.getByRole('link', { name: 'Overview' }).getAttribute('aria-current'), 'page');
    await ann.page.getByRole('link', { name: 'Members' }).click();
    await heading('Members');
    assert.equal(await ann.page.title(), 'Members · Strongroom');
  });

  it('goes to a page by a few letters, by two keys, and to what an id belongs to', async () => {
    await heading('Overview');
    await ann.page.keyboard.press('Control+k');
    await ann.page.getByRole('combobox').fill('sett');
    await ann.page.keyboard.press('Enter');
    await heading('Settings');
    await ann.page.keyboard.press('g');
    await ann.page.keyboard.press('u');
    await heading('Usage');
    await ann.click('Search or paste an id');
    await ann.page.getByRole('combobox').fill(ID);
    await ann.page.getByRole('option', { name: `Acts of ${ID}` }).click();
    await heading('Logs');
    assert.match(ann.page.url(), new RegExp(`actor_id=${ID}`));
  });

  it('opens what a pasted id belongs to, also where it is sent off at once', async () => {
    const { app } = portal.mailed;
    const send = (path: string, body: unknown) => app.call('POST', path, { key: portal.tenant.key, body });
    const application = (await send('/applications', { name: 'Pasted', type: 'management', permissions: ['log:read'] }))
      .json;
    const proxy = (await send('/proxies', { name: 'Pasted Proxy', destination_url: 'https://example.com/' })).json;
    for (const [id, name] of [
      [application.id, 'Pasted'],
      [proxy.id, 'Pasted Proxy'],
    ]) {
      await ann.page.keyboard.press('Control+k');
      await ann.page.getByRole('combobox').fill(id);
      await ann.page.keyboard.press('Enter');
      await heading(name);
    }
  });

  it('offers no address for a pasted key or card number', async () => {
    await ann.page.keyboard.press('Control+k');
    await ann.page.getByRole('combobox').fill('key_pvt_0123456789abcdefghijABCDEFGHIJ01');
    await ann.reads('Nothing is called that.');
    assert.equal(await ann.page.getByRole('option').count(), 0);
    await ann.page.getByRole('combobox').fill('4242424242424242');
    await ann.reads('Nothing is called that.');
    assert.equal(await ann.page.getByRole('option').count(), 0);
  });

  it('shows its keys, and takes letters for letters where somebody types', async () => {
    await heading('Overview');
    await ann.page.keyboard.press('?');
    await ann.reads('Close what is open');
    await ann.page.keyboard.press('Escape');
    await ann.page.keyboard.press('Control+k');
    await ann.page.getByRole('combobox').pressSequentially('g?u');
    assert.equal(await ann.page.getByRole('combobox').inputValue(), 'g?u');
    await ann.page.keyboard.press('Escape');
    await heading('Overview');
  });

  it('keeps the theme and the times over a reload, without a flash of the other theme', async () => {
    await ann.click(/^Theme: system/);
    await ann.click(/^Theme: light/);
    await ann.click(/^Times are local/);
    await ann.page.addInitScript(
      `addEventListener('DOMContentLoaded', () => { window.firstTheme = document.documentElement.dataset.theme; });`,
    );
    await ann.page.reload();
    await ann.page.getByRole('button', { name: /^Times are UTC/ }).waitFor();
    assert.equal(await ann.page.evaluate('window.firstTheme'), 'dark');
  });

  it('has its navigation behind a button where there is little room', async () => {
    await ann.page.setViewportSize({ width: 390, height: 800 });
    await ann.click('Pages of the tenant');
    await ann.page.getByRole('link', { name: 'Tokens' }).click();
    await heading('Tokens');
    assert.ok(((await ann.page.evaluate('document.documentElement.scrollWidth')) as number) <= 390);
  });

  it('tells too many requests once, with how long to wait', async () => {
    const refusal = { status: 429, headers: { 'Retry-After': '6' }, contentType: 'application/problem+json' };
    const body = JSON.stringify({ code: 'rate_limited', detail: 'Too many requests.', status: 429 });
    await ann.page.route('**/tenants/**/members?*', (route) => route.fulfill({ ...refusal, body }));
    await ann.page.route('**/tenants/self/invitations?*', (route) => route.fulfill({ ...refusal, body }));
    await ann.open('members');
    await ann.reads(/Try again in [1-6] s\./);
    assert.equal(await ann.page.getByText(/Too many requests/).count(), 1, 'for both of them');
    await ann.page.unroute('**/tenants/**/members?*');
    await ann.page.unroute('**/tenants/self/invitations?*');
    await ann.page.getByText(/Try again in \d+ s\./).waitFor({ state: 'detached' });
    // What was held back comes by itself.
    await ann.reads(ann.email);
  });

  it('counts down at the form what a sign-in has to wait', async () => {
    await ann.click('Sign out');
    await heading('Sign in');
    const detail = 'Too many failed sign-ins. Wait 30 second(s), then try again.';
    await ann.page.route('**/portal/api/sign-in', (route) =>
      route.fulfill({
        ...{ status: 429, headers: { 'Retry-After': '30' }, contentType: 'application/problem+json' },
        body: JSON.stringify({ code: 'sign_in_delayed', detail, status: 429 }),
      }),
    );
    await ann.fill('E-mail', ann.email);
    await ann.fill('Password', PASSWORD);
    await ann.click('Sign in');
    await ann.page.getByRole('alert').getByText(detail).waitFor();
    await ann.reads(/^([1-9]|1\d|2\d) s left\.$/);
  });

  it('leads back from a page beyond the last one', async () => {
    await ann.open('members?page=9');
    await ann.click('Previous');
    await ann.page.waitForURL(/\/members$/);
    await ann.reads(ann.email);
  });

  it('leads to the sign-in when the session has ended, and back behind it', async () => {
    await heading('Overview');
    // What is still on its way would find the session gone, and lead away from here by itself.
    await ann.page.waitForLoadState('networkidle');
    await portal.mailed.app.db.owner.query('DELETE FROM portal_sessions WHERE user_id = $1', [ann.userId]);
    await ann.page.getByRole('link', { name: 'Settings' }).click();
    await heading('Sign in');
    await ann.fill('E-mail', ann.email);
    await ann.fill('Password', PASSWORD);
    await ann.click('Sign in');
    await heading('Settings');
  });

  it('shows nothing more of one person when another one signs in in a second tab', async () => {
    const eve = await makeMember(portal.mailed.app, portal.tenant.id, 'ADMIN');
    await givePassword(portal.mailed.app, eve.userId);
    const second = await ann.context.newPage();
    await signInOn({ ...ann, page: second }, eve.email, PASSWORD);
    await second.getByRole('button', { name: 'Sign out' }).waitFor();
    await second.close();
    await ann.page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await ann.page.waitForURL(/\/portal\/tenants$/);
    await ann.reads(eve.email);
    assert.equal(await ann.page.getByText(ann.email).count(), 0);
  });

  it('writes numbers and times as the language of the browser does', async () => {
    const devtools = await ann.context.newCDPSession(ann.page);
    await devtools.send('Emulation.setLocaleOverride', { locale: 'de-DE' });
    await ann.open('usage');
    await ann.reads(/1\.000/);
    await ann.open('members');
    const time = ann.page.locator('tbody time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const format = new Intl.DateTimeFormat('de-DE', { dateStyle: 'medium', timeStyle: 'short' });
    assert.equal(await time.textContent(), format.format(at));
  });

  it('leads to no other site behind a sign-in', async () => {
    await ann.click('Sign out');
    await heading('Sign in');
    const out = ['/tenants/../../docs', '/account/%2e%2e/%2e%2e/docs', '/tenants/../api/me', '/tenants/../../../evil'];
    for (const to of ['//evil.example', 'https://evil.example/', '/tenants.evil.example', '/../docs', ...out]) {
      await ann.page.goto(`${ann.portal}/sign-in?to=${encodeURIComponent(to)}`);
      await ann.fill('E-mail', ann.email);
      await ann.fill('Password', PASSWORD);
      await ann.click('Sign in');
      await heading('Overview');
      await ann.click('Sign out');
      await heading('Sign in');
    }
  });

  it('shows nothing of a tenant to who is no member', async () => {
    const other = await portal.mailed.app.makeTenant('Others');
    await ann.page.goto(`${ann.portal}/tenants/${other.id}/overview`);
    await ann.reads('There is no such tenant, or you are not a member of it');
  });
});
