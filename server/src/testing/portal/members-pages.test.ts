// needs: chromium

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { createDeferred } from '../../kernel/deferred.js';
import type { MadeMember } from '../../resources/members/member-fixture.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import { givePassword, PASSWORD } from '../../resources/portal/portal-fixture.js';
import { eventually } from '../eventually.js';
import { addAuthenticator, signInOn } from './portal-page-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const MINUTE_MS = 60_000;

describe('the page of members in a real browser', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit();
  });
  afterEach(() => ann.leave());

  const newAddress = () => `${randomUUID()}@example.com`;
  const row = (text: string) => ann.page.getByRole('row').filter({ hasText: text });
  const membersOf = async (userId: string) => {
    const { json } = await portal.mailed.app.call('GET', `/tenants/self/members?user_id=${userId}`, {
      key: portal.tenant.key,
    });
    return json.data as { role: string }[];
  };
  async function invite(email: string): Promise<void> {
    await ann.open('members');
    await ann.click('Invite somebody');
    await ann.fill('E-mail', email);
    await ann.page.getByLabel('Role').selectOption('READ_ONLY');
    await ann.click('Invite');
  }

  it('invites by mail, and tells at the field what is wrong with an address', async () => {
    await invite('not an address');
    await ann.page.getByLabel('E-mail', { exact: true }).and(ann.page.locator('[aria-invalid=true]')).waitFor();
    const email = newAddress();
    await ann.fill('E-mail', email);
    await ann.click('Invite');
    await row(email).getByText('Reader').waitFor();
    const [mail] = await portal.mailed.mailsTo(email, 1);
    assert.match(mail ?? '', /\/portal\/invitations\/accept#/);
  });

  it('says of an address that it is a member already', async () => {
    const { email } = await makeMember(portal.mailed.app, portal.tenant.id, 'ADMIN');
    await invite(email);
    await ann.page.getByRole('alert').waitFor();
    assert.match((await ann.page.getByRole('alert').textContent()) ?? '', /member/i);
  });

  it('sends an invitation again, and revokes it', async () => {
    const email = newAddress();
    await invite(email);
    await ann.click(`Send again for ${email}`);
    await ann.reads('The invitation is on its way.');
    await portal.mailed.mailsTo(email, 2);
    await ann.click(`Revoke ${email}`);
    await row(email).waitFor({ state: 'detached' });
  });

  it('changes a role, and removes a member after asking', async () => {
    const bob = await makeMember(portal.mailed.app, portal.tenant.id, 'READ_ONLY');
    await ann.open('members');
    await ann.click(`Change ${bob.email}`);
    await ann.page.getByRole('menuitem', { name: 'Make Administrator' }).click();
    await row(bob.email).getByText('Administrator').waitFor();
    assert.deepEqual(
      (await membersOf(bob.userId)).map(({ role }) => role),
      ['ADMIN'],
    );
    await ann.click(`Change ${bob.email}`);
    await ann.page.getByRole('menuitem', { name: 'Remove' }).click();
    assert.equal((await membersOf(bob.userId)).length, 1, 'nothing is done before it is confirmed');
    await ann.click('Remove');
    // The rows behind an open dialog are hidden, and count as none.
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    await row(bob.email).waitFor({ state: 'detached' });
    assert.equal((await membersOf(bob.userId)).length, 0);
  });

  it('asks who one is when the sign-in is not fresh, and goes on then', async () => {
    const bob = await makeMember(portal.mailed.app, portal.tenant.id, 'READ_ONLY');
    await ann.open('members');
    await portal.mailed.pass(11 * MINUTE_MS);
    await ann.click(`Change ${bob.email}`);
    await ann.page.getByRole('menuitem', { name: 'Make Administrator' }).click();
    await ann.reads('Is it you?');
    assert.deepEqual(
      (await membersOf(bob.userId)).map(({ role }) => role),
      ['READ_ONLY'],
    );
    await ann.fill('Password', PASSWORD);
    await ann.click('Go on');
    await row(bob.email).getByText('Administrator').waitFor();
  });

  const isInside = () => ann.page.getByRole('button', { name: 'Sign out' }).waitFor();
  async function addPasskey(): Promise<void> {
    await ann.page.goto(`${ann.portal}/account`);
    await ann.click('Add a passkey');
    await ann.reads(/^Added/);
  }
  /** Begins to make somebody an administrator with a sign-in that is too old for it; gives whom. */
  async function beginWithAnOldSignIn(): Promise<MadeMember> {
    const bob = await makeMember(portal.mailed.app, portal.tenant.id, 'READ_ONLY');
    await ann.open('members');
    await row(bob.email).waitFor();
    await portal.mailed.pass(11 * MINUTE_MS);
    await ann.click(`Change ${bob.email}`);
    await ann.page.getByRole('menuitem', { name: 'Make Administrator' }).click();
    await ann.reads('Is it you?');
    return bob;
  }

  it('takes a passkey for the answer to who one is, and goes on then', async () => {
    await addAuthenticator(ann);
    await addPasskey();
    const bob = await beginWithAnOldSignIn();
    await ann.click('Use a passkey');
    await row(bob.email).getByText('Administrator').waitFor();
    assert.equal((await membersOf(bob.userId))[0]?.role, 'ADMIN');
  });

  it('signs somebody else in whose passkey answers, and does not do what was begun', async () => {
    const eve = await makeMember(portal.mailed.app, portal.tenant.id, 'ADMIN');
    await givePassword(portal.mailed.app, eve.userId);
    await addAuthenticator(ann);
    await signInOn(ann, eve.email, PASSWORD);
    await isInside();
    await addPasskey();
    await ann.click('Sign out');
    await signInOn(ann, ann.email, PASSWORD);
    await isInside();
    const bob = await beginWithAnOldSignIn();
    const writes: string[] = [];
    ann.page.on('request', (request) => {
      if (request.url().includes('/tenants/self/members/')) writes.push(request.method());
    });
    await ann.click('Use a passkey');
    await ann.page.waitForURL(/\/portal\/tenants$/);
    await ann.reads(eve.email);
    assert.equal(await ann.page.getByText(ann.email).count(), 0);
    assert.equal(await ann.page.getByText('Is it you?').count(), 0);
    await ann.open('members');
    await row(eve.email).getByText('(you)').waitFor();
    await row(bob.email).getByText('Reader').waitFor();
    assert.deepEqual(writes, []);
    assert.equal((await membersOf(bob.userId))[0]?.role, 'READ_ONLY');
  });

  it('shows an act as done when the server has done it, and not before', async () => {
    const bob = await makeMember(portal.mailed.app, portal.tenant.id, 'READ_ONLY');
    await ann.open('members');
    const held = createDeferred<void>();
    const asked: string[] = [];
    await ann.page.route(`**/tenants/self/members/${bob.memberId}`, async (route) => {
      asked.push(route.request().method());
      await held.promise;
      await route.continue();
    });
    await ann.click(`Change ${bob.email}`);
    await ann.page.getByRole('menuitem', { name: 'Make Administrator' }).click();
    await eventually('the call is under way', () => asked.length === 1);
    await row(bob.email).getByText('Reader').waitFor();
    assert.equal(await row(bob.email).getByText('Administrator').count(), 0);
    held.resolve();
    await row(bob.email).getByText('Administrator').waitFor();
    assert.deepEqual(asked, ['PUT']);
  });

  it('takes away what somebody may no longer do, and the tenant from who was removed, at the first refusal', async () => {
    const { app } = portal.mailed;
    const { key } = portal.tenant;
    await ann.open('members');
    await row(ann.email).waitFor();
    await app.call('PUT', `/tenants/self/members/${ann.memberId}`, { key, body: { role: 'READ_ONLY' } });
    await ann.click('Invite somebody');
    await ann.fill('E-mail', newAddress());
    await ann.click('Invite');
    await ann.reads(/You are a Reader of this tenant/);
    await app.call('DELETE', `/tenants/self/members/${ann.memberId}`, { key });
    await ann.page.keyboard.press('Escape');
    await ann.page.getByRole('link', { name: 'Usage' }).click();
    await ann.reads('There is no such tenant, or you are not a member of it');
  });

  it('shows when somebody was last here, and who has no second factor', async () => {
    const bob = await makeMember(portal.mailed.app, portal.tenant.id, 'READ_ONLY');
    await ann.open('members');
    await row(bob.email).getByText('Never here').waitFor();
    await row(bob.email).getByText('None').waitFor();
    assert.equal(await row(ann.email).getByText('Never here').count(), 0);
  });

  it('offers a reader nothing that would be refused', async () => {
    const reader = await portal.visit('READ_ONLY');
    await reader.open('members');
    await reader.reads(/You are a Reader of this tenant/);
    await reader.page.getByRole('row').filter({ hasText: ann.email }).waitFor();
    assert.equal(await reader.page.getByRole('button', { name: /^(Invite|Change .*@|Revoke)/ }).count(), 0);
    await reader.leave();
  });
});
