// needs: chromium

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { MemberRole } from '../../access/roles.js';
import type { IssuerPair } from '../../people/oidc/oidc-fixture.js';
import { startIssuerPair } from '../../people/oidc/oidc-fixture.js';
import type { MadeMember } from '../../resources/members/member-fixture.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import { givePassword, PASSWORD } from '../../resources/portal/portal-fixture.js';
import type { FakeClock } from '../fake-clock.js';
import { createFakeClock } from '../fake-clock.js';
import type { TestApp, TestTenant } from '../test-app.js';
import { startTestApp } from '../test-app.js';
import type { PersonAtBrowser } from './portal-page-fixture.js';
import { launchBrowser, openVisitor, signInOn } from './portal-page-fixture.js';

describe('a Portal with an issuer and without mail', () => {
  let folder: string;
  let pair: IssuerPair;
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let browser: Browser;
  let ann: PersonAtBrowser;
  before(async () => {
    folder = await mkdtemp('/tmp/sr-issuer-pages-');
    pair = await startIssuerPair();
    const issuer = { name: 'Corporate', issuer: pair.a.url, client_id: 'portal', client_secret: 'hush' };
    await writeFile(join(folder, 'issuers.json'), JSON.stringify([issuer]));
    await writeFile(join(folder, 'authority.pem'), pair.authority);
    clock = createFakeClock(Date.now());
    app = await startTestApp({
      clock,
      env: {
        STRONGROOM_OIDC_ISSUERS_FILE: join(folder, 'issuers.json'),
        STRONGROOM_OUTBOUND_CA_FILE: join(folder, 'authority.pem'),
      },
      outboundWay: { resolve: async () => ['127.0.0.1'] },
    });
    tenant = await app.makeTenant('Ours');
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await app?.close();
    await pair?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    ann = await openVisitor(browser, app);
  });
  afterEach(async () => {
    const others = ann.faults.filter((fault) => !fault.startsWith(`request: ${pair.a.url}`));
    assert.deepEqual(others, [], 'nothing broke the policy, and nothing but the issuer was asked');
    await ann.close();
  });

  /** The issuer's own page, where its user agrees by a click: a navigation from another site. */
  async function answerAs(subject: string): Promise<void> {
    await ann.context.route(`${pair.a.url}/**`, async (route) => {
      const now = Math.floor(clock.nowMs() / 1_000);
      const back = pair.a.agree(route.request().url(), { sub: subject, auth_time: now });
      const body = `<a href="${back.replaceAll('&', '&amp;')}">Agree</a>`;
      await route.fulfill({ contentType: 'text/html', body });
    });
  }

  async function linkedMember(subject: string): Promise<string> {
    const { email, userId } = await makeMember(app, tenant.id, 'ADMIN');
    await givePassword(app, userId);
    await answerAs(subject);
    await signInOn(ann, email, PASSWORD);
    await ann.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await ann.page.goto(`${ann.portal}/account`);
    await ann.page.getByRole('button', { name: 'Link Corporate' }).click();
    await ann.page.getByRole('link', { name: 'Agree' }).click();
    await ann.page.getByText('The account is linked.').waitFor();
    return email;
  }

  it('is linked to an account, and signs in from then on', async () => {
    const email = await linkedMember('ann-1');
    await ann.page.getByRole('button', { name: 'Sign out' }).click();
    await ann.page.getByRole('button', { name: 'Continue with Corporate' }).click();
    await ann.page.getByRole('link', { name: 'Agree' }).click();
    await ann.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await ann.page.getByText(email).first().waitFor();
  });

  it('proves anew who one is, and leads back to the page where that was asked for', async () => {
    await linkedMember('ann-3');
    clock.advance(11 * 60_000);
    const asked = `${ann.portal}/tenants/${tenant.id}/applications/new?type=management&name=Vouched&permissions=log:read`;
    await ann.page.goto(asked);
    await ann.page.getByRole('button', { name: 'Create application' }).click();
    await ann.page.getByRole('button', { name: 'Sign in again with Corporate' }).click();
    await ann.page.getByRole('link', { name: 'Agree' }).click();
    await ann.page.getByRole('button', { name: 'Create application' }).click();
    await ann.page
      .getByText(/key_mgt_/)
      .first()
      .waitFor();
    assert.equal(await ann.page.evaluate('sessionStorage.length'), 0);
  });

  it('lets in nobody whom it vouches for and who is linked to no account', async () => {
    await answerAs('stranger');
    await ann.page.goto(`${ann.portal}/sign-in`);
    await ann.page.getByRole('button', { name: 'Continue with Corporate' }).click();
    await ann.page.getByRole('link', { name: 'Agree' }).click();
    await ann.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await ann.page.getByRole('button', { name: 'Sign out' }).count(), 0);
    assert.match(await ann.page.getByRole('status').first().innerText(), /linked/i);
  });

  it('is unlinked, and does not sign in any more', async () => {
    await linkedMember('ann-2');
    await ann.page.getByRole('button', { name: /^Unlink/ }).click();
    await ann.page.getByRole('button', { name: /^Unlink/ }).waitFor({ state: 'detached' });
    await ann.page.getByRole('button', { name: 'Sign out' }).click();
    await ann.page.getByRole('button', { name: 'Continue with Corporate' }).click();
    await ann.page.getByRole('link', { name: 'Agree' }).click();
    await ann.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  /** Signs a new member in; gives who it is. */
  async function visit(person: PersonAtBrowser, role: MemberRole, tenantId: string): Promise<MadeMember> {
    const member = await makeMember(app, tenantId, role);
    await givePassword(app, member.userId);
    await signInOn(person, member.email, PASSWORD);
    await person.page.getByRole('button', { name: 'Sign out' }).waitFor();
    return member;
  }

  it('is the only way in once a tenant says so: who is not linked is named, and asked to sign in with it', async () => {
    const ours = await app.makeTenant('Strict');
    const bob = await openVisitor(browser, app);
    const { email } = await visit(bob, 'ADMIN', ours.id);
    await visit(ann, 'OWNER', ours.id);
    await ann.page.goto(`${ann.portal}/tenants/${ours.id}/settings`);
    await ann.page.getByLabel('Sign-in provider').selectOption('Only Corporate');
    await ann.page.getByRole('button', { name: 'Set the rules' }).click();
    await ann.page.getByText('The rules are set.').waitFor();
    const rules = ann.page.waitForResponse(/\/sign-in-rules$/);
    // The list of providers comes last, and the choice among them has to stand all the same.
    await ann.page.route('**/sign-in-options', async (route) => {
      await rules;
      await route.continue();
    });
    await ann.page.reload();
    const lacking = ann.page.getByText(/^Are not linked with this provider yet: 1$/).locator('..');
    await lacking.getByText(email).waitFor();
    assert.notEqual(await ann.page.getByLabel('Sign-in provider').inputValue(), '');
    await bob.page.goto(`${bob.portal}/tenants/${ours.id}/members`);
    await bob.page
      .getByText(/sign in with its OpenID Connect issuer/)
      .first()
      .waitFor();
    assert.equal(await bob.page.getByRole('row').count(), 0);
    await ann.page.getByLabel('Sign-in provider').selectOption('Any way of signing in');
    await ann.page.getByRole('button', { name: 'Set the rules' }).click();
    await ann.page.getByText('The rules are set.').waitFor();
    await bob.page.reload();
    await bob.page.getByRole('row').filter({ hasText: email }).waitFor();
    assert.deepEqual(bob.faults, []);
    await bob.close();
  });

  it('shows the link of an invitation once, which lets somebody in at another browser', async () => {
    await visit(ann, 'ADMIN', tenant.id);
    const email = `${randomUUID()}@example.com`;
    await ann.page.goto(`${ann.portal}/tenants/${tenant.id}/members`);
    await ann.page.getByRole('button', { name: 'Invite somebody' }).click();
    await ann.page.getByText(/This server sends no mail: you get a link to pass on/).waitFor();
    await ann.page.getByLabel('E-mail', { exact: true }).fill(email);
    await ann.page.getByLabel('Role').selectOption('READ_ONLY');
    await ann.page.getByRole('button', { name: 'Invite', exact: true }).click();
    const dialog = ann.page.getByRole('dialog', { name: 'Pass this link on' });
    const link = (await dialog.locator('pre').textContent()) ?? '';
    await ann.page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [, secret = ''] = /^http:\/\/localhost:\d+\/portal\/invitations\/accept#([0-9A-Za-z]{20,})$/.exec(link) ?? [];
    assert.notEqual(secret, '', link);
    const [answer] = await Promise.all([ann.page.waitForResponse(/\/invitations\?/), ann.page.reload()]);
    await ann.page.getByRole('row').filter({ hasText: email }).waitFor();
    assert.ok(!(await answer.text()).includes(secret) && !(await ann.page.content()).includes(secret));
    const bob = await openVisitor(browser, app);
    await bob.page.goto(link);
    await bob.page.getByText('Join Ours').first().waitFor();
    await bob.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await bob.page.getByRole('button', { name: 'Create the account and join' }).click();
    await bob.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await ann.page.reload();
    await ann.page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: email }).waitFor();
    assert.deepEqual(bob.faults, []);
    await bob.close();
  });
});
