// needs: chromium

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import { createLinks } from '../../people/links/links.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import type { MailedApp } from '../../resources/portal/mailbox-fixture.js';
import { secretIn, startMailedApp } from '../../resources/portal/mailbox-fixture.js';
import { givePassword, PASSWORD } from '../../resources/portal/portal-fixture.js';
import type { TestTenant } from '../test-app.js';
import type { PersonAtBrowser } from './portal-page-fixture.js';
import { addAuthenticator, launchBrowser, OTHER_NAME, openVisitor, signInOn } from './portal-page-fixture.js';

const HOUR_MS = 3_600_000;
const NEW_PASSWORD = 'another good one 4711';

describe('the Portal in a real browser', () => {
  let mailed: MailedApp;
  let tenant: TestTenant;
  let browser: Browser;
  let ann: PersonAtBrowser;
  before(async () => {
    mailed = await startMailedApp();
    tenant = await mailed.app.makeTenant('Ours');
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await mailed?.close();
  });
  beforeEach(async () => {
    ann = await openVisitor(browser, mailed.app);
  });
  afterEach(async () => {
    assert.deepEqual(ann.faults, [], 'nothing broke the policy or went elsewhere');
    await ann.close();
  });

  async function newMember(): Promise<string> {
    const { email, userId } = await makeMember(mailed.app, tenant.id, 'ADMIN');
    await givePassword(mailed.app, userId);
    return email;
  }
  const isInside = ({ page }: PersonAtBrowser) => page.getByRole('button', { name: 'Sign out' }).waitFor();
  const says = ({ page }: PersonAtBrowser, text: string | RegExp) => page.getByText(text).first().waitFor();

  async function setUpLink(): Promise<string> {
    const owner = randomUUID();
    await mailed.app.db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [owner]);
    const links = createLinks({ clock: mailed.clock, keys: mailed.app.keyStore.systemKeys });
    return (await mailed.app.database.people((tx) => links.make(tx, owner, 'set-up', HOUR_MS))).reveal();
  }

  it('sets up the owner by the link, whose secret is out of the address at once; the link works once', async () => {
    const secret = await setUpLink();
    const { page, portal } = ann;
    await page.goto(`${portal}/set-up#${secret}`);
    await page.getByLabel('E-mail').fill(`${randomUUID()}@example.com`);
    assert.equal(page.url(), `${portal}/set-up`);
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Finish the set-up' }).click();
    await says(ann, /at least 12 characters/i);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Finish the set-up' }).click();
    await isInside(ann);
    await page.goto(`${portal}/set-up#${secret}`);
    await page.getByLabel('E-mail').fill(`${randomUUID()}@example.com`);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Finish the set-up' }).click();
    await says(ann, 'This link does not work');
  });

  it('sets up the owner with a passkey in place of a password', async () => {
    const { page, portal } = ann;
    await addAuthenticator(ann);
    await page.goto(`${portal}/set-up#${await setUpLink()}`);
    await page.getByLabel('E-mail').fill(`${randomUUID()}@example.com`);
    await page.getByRole('button', { name: 'Use a passkey instead' }).click();
    await isInside(ann);
  });

  it('says what a set-up without a link needs', async () => {
    await ann.page.goto(`${ann.portal}/set-up`);
    await says(ann, 'Open the link once more');
  });

  it('signs in, in the same words for every wrong one, and out; the session is in no storage that scripts read', async () => {
    const email = await newMember();
    const { page } = ann;
    await signInOn(ann, email, 'wrong');
    await says(ann, /is wrong\. Check them/);
    await signInOn(ann, email, PASSWORD);
    await isInside(ann);
    assert.equal(await page.evaluate('document.cookie'), '');
    assert.deepEqual(await page.evaluate('[localStorage.length, sessionStorage.length]'), [0, 0]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(ann.portal);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('adds a passkey and signs in with it', async () => {
    const email = await newMember();
    await addAuthenticator(ann);
    await signInOn(ann, email, PASSWORD);
    await isInside(ann);
    await ann.page.goto(`${ann.portal}/account`);
    await ann.page.getByRole('button', { name: 'Add a passkey' }).click();
    await says(ann, /^Added/);
    await ann.page.getByRole('button', { name: 'Sign out' }).click();
    await ann.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await isInside(ann);
  });

  it('sets up an authenticator, shows recovery codes that do not close by accident, and asks for codes then', async () => {
    const email = await newMember();
    const { page, portal } = ann;
    await signInOn(ann, email, PASSWORD);
    await isInside(ann);
    await page.goto(`${portal}/account`);
    await page.getByRole('button', { name: 'Set up' }).click();
    const secret = ((await page.locator('p.font-mono').textContent()) ?? '').replaceAll(' ', '');
    const code = () => hotp(bytesOfBase32(secret), Math.floor(mailed.clock.nowMs() / TOTP_STEP_MS));
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await says(ann, /is not the one that the authenticator shows/);
    await page.getByLabel('Code', { exact: true }).fill(code());
    await page.getByRole('button', { name: 'Confirm' }).click();
    await says(ann, 'Your recovery codes');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    const [first = ''] = await page.getByRole('dialog').getByRole('listitem').allTextContents();
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await says(ann, /10 recovery codes are left/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signInOn(ann, email, PASSWORD);
    await says(ann, /is wrong\. Check them/);
    await signInOn(ann, email, PASSWORD, first);
    await isInside(ann);
  });

  it('asks who it is before an act that takes a fresh sign-in, and does it then', async () => {
    const email = await newMember();
    await signInOn(ann, email, PASSWORD);
    await isInside(ann);
    await mailed.pass(11 * 60_000);
    await ann.page.goto(`${ann.portal}/account`);
    await ann.page.getByRole('button', { name: 'Set up' }).click();
    await says(ann, 'Is it you?');
    await ann.page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(PASSWORD);
    await ann.page.getByRole('button', { name: 'Go on' }).click();
    await says(ann, 'Set up an authenticator');
  });

  it('sends a link for a forgotten password, which sets a new one', async () => {
    const email = await newMember();
    const { page, portal } = ann;
    await page.goto(`${portal}/sign-in`);
    await page.getByRole('link', { name: 'Forgotten your password?' }).click();
    // Both pages have a field of that name, and the next one is fetched first.
    await page.getByRole('heading', { name: 'Forgotten your password?' }).waitFor();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send a link' }).click();
    await says(ann, 'Look into your mailbox');
    const secret = secretIn(await mailed.mailsTo(email, 1), 'reset-password');
    await page.goto(`${portal}/reset-password#${secret}`);
    await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await says(ann, 'Password changed');
    await signInOn(ann, email, NEW_PASSWORD);
    await isInside(ann);
  });

  it('lets two people in two browsers work: one invites, the other joins as a newcomer', async () => {
    const email = `${randomUUID()}@example.com`;
    const { status } = await mailed.app.call('POST', '/tenants/self/invitations', {
      key: tenant.key,
      body: { email, role: 'READ_ONLY' },
    });
    assert.equal(status, 201);
    const [, secret] = /accept#([0-9A-Za-z]+)/.exec((await mailed.mailsTo(email, 1))[0] ?? '') ?? [];
    const bob = await openVisitor(browser, mailed.app);
    try {
      await bob.page.goto(`${bob.portal}/invitations/accept#${secret}`);
      await says(bob, 'Join Ours');
      await bob.page.reload();
      await says(bob, 'An invitation that nobody has used still works.');
      await bob.page.goto(`${bob.portal}/invitations/accept#${secret}`);
      await says(bob, 'Join Ours');
      await bob.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await bob.page.getByRole('button', { name: 'Create the account and join' }).click();
      await isInside(bob);
      await bob.page.goto(`${bob.portal}/tenants`);
      await says(bob, 'Reader');
      await ann.page.goto(`${ann.portal}/invitations/accept#${secret}`);
      await says(ann, 'This link does not work');
      assert.deepEqual(bob.faults, []);
    } finally {
      await bob.close();
    }
  });

  it('lets who is signed in as somebody else sign out at an invitation, and go on', async () => {
    const email = `${randomUUID()}@example.com`;
    await mailed.app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    const secret = secretIn(await mailed.mailsTo(email, 1), 'invitations/accept');
    await signInOn(ann, await newMember(), PASSWORD);
    await isInside(ann);
    await ann.page.goto(`${ann.portal}/invitations/accept#${secret}`);
    await says(ann, `The invitation is for ${email}`);
    assert.equal(await ann.page.getByRole('button', { name: /^Accept as/ }).isDisabled(), true);
    await ann.page.getByRole('button', { name: 'Sign out' }).click();
    await ann.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await ann.page.getByRole('button', { name: 'Create the account and join' }).click();
    await isInside(ann);
  });

  it('ends all other sessions at once', async () => {
    const email = await newMember();
    const others = [await openVisitor(browser, mailed.app), await openVisitor(browser, mailed.app)];
    try {
      for (const person of [...others, ann]) {
        await signInOn(person, email, PASSWORD);
        await isInside(person);
      }
      await ann.page.goto(`${ann.portal}/account`);
      await ann.page.getByRole('button', { name: 'End all others' }).click();
      await ann.page.getByRole('button', { name: 'End' }).first().waitFor({ state: 'detached' });
      for (const { page, portal } of others) {
        await page.goto(`${portal}/account`);
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      }
    } finally {
      for (const person of others) await person.close();
    }
  });

  it('ends another session from the list, and all others with a new password', async () => {
    const email = await newMember();
    const other = await openVisitor(browser, mailed.app);
    try {
      await signInOn(other, email, PASSWORD);
      await isInside(other);
      await signInOn(ann, email, PASSWORD);
      await isInside(ann);
      await ann.page.goto(`${ann.portal}/account`);
      await ann.page.getByRole('button', { name: 'End' }).click();
      await ann.page.getByRole('button', { name: 'End' }).waitFor({ state: 'detached' });
      await other.page.goto(`${other.portal}/account`);
      await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await signInOn(other, email, PASSWORD);
      await isInside(other);
      await ann.page.reload();
      await ann.page.getByRole('button', { name: 'Change', exact: true }).nth(1).click();
      await ann.page.getByLabel('Current password', { exact: true }).fill(PASSWORD);
      await ann.page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
      await ann.page.getByRole('button', { name: 'Change the password' }).click();
      await says(ann, 'Your other sessions have ended.');
      await other.page.goto(`${other.portal}/account`);
      await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    } finally {
      await other.close();
    }
  });

  it('creates a tenant, whose owner the user is', async () => {
    await signInOn(ann, await newMember(), PASSWORD);
    await isInside(ann);
    await ann.page.goto(`${ann.portal}/tenants`);
    await ann.page.getByRole('button', { name: 'New tenant' }).click();
    await ann.page.getByLabel('Name').fill('Fresh <b>ground</b>');
    await ann.page.getByRole('button', { name: 'Create' }).click();
    await says(ann, 'Fresh <b>ground</b>');
    await says(ann, 'Owner');
  });

  it('explains itself over plain HTTP from another host, instead of a sign-in that would not last', async () => {
    const { page } = ann;
    for (const path of ['', 'set-up#x', 'reset-password#x', 'invitations/accept#x', 'confirm-email#x', 'sign-in']) {
      await page.goto('about:blank');
      await page.goto(`http://${OTHER_NAME}:${mailed.app.port}/portal/${path}`);
      await says(ann, 'This connection is not secure');
      assert.equal(await page.getByLabel('Password', { exact: true }).count(), 0, path);
    }
    ann.faults.length = 0; // The other name is what this is about.
  });

  it('explains at an address of numbers what passkeys need, and offers none', async () => {
    const { page } = ann;
    await page.goto(`http://127.0.0.1:${mailed.app.port}/portal/sign-in`);
    await says(ann, 'Passkeys need an address with a name.');
    await page.getByLabel('Password', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: /passkey/ }).count(), 0);
    ann.faults.length = 0; // The address is what this is about.
  });

  it('keeps the theme that was chosen, from the first paint on', async () => {
    const { page, portal } = ann;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${portal}/sign-in`);
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    assert.equal(await theme(), 'light');
    await page.getByRole('button', { name: /^Theme: system/ }).click();
    await page.getByRole('button', { name: /^Theme: light/ }).click();
    assert.equal(await theme(), 'dark');
    await page.reload({ waitUntil: 'commit' });
    await page.waitForFunction('document.body !== null');
    assert.equal(await theme(), 'dark');
  });
});
