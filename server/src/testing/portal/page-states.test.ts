// needs: chromium, engine

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createLinks } from '../../people/links/links.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import { secretIn } from '../../resources/portal/mailbox-fixture.js';
import { givePassword, openBrowser, PASSWORD } from '../../resources/portal/portal-fixture.js';
import type { Audit } from './axe-fixture.js';
import { loadAxe } from './axe-fixture.js';
import type { EveryPage } from './every-page-fixture.js';
import { CANARIES, CANARY, fillForPages } from './every-page-fixture.js';
import { openVisitor, signInOn } from './portal-page-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const WIDTHS = [390] as const;
const HOUR_MS = 3_600_000;

describe('what pages of the Portal become when they are used', () => {
  let portal: PortalOfTenant;
  let every: EveryPage;
  let ann: MemberAtBrowser;
  let audit: Audit;
  before(async () => {
    portal = await startPortalOfTenant();
    every = await fillForPages(portal);
    ann = await portal.visit('OWNER');
    audit = await loadAxe();
    await ann.page.emulateMedia({ reducedMotion: 'reduce' });
  });
  after(async () => {
    await ann?.leave();
    await portal?.close();
  });
  beforeEach(() => ann.page.setViewportSize({ width: 1280, height: 860 }));

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).first().waitFor();
  async function opened(path: string): Promise<void> {
    await ann.page.setViewportSize({ width: 390, height: 860 });
    await ann.open(path);
    await heading(ann.page);
  }
  async function quiet(path: string): Promise<string[]> {
    await opened(path);
    await ann.page.waitForLoadState('networkidle');
    return audit(ann.page, path, WIDTHS);
  }
  async function live(query = ''): Promise<void> {
    await opened(`logs?live=1${query}`);
    await ann.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  }

  it('is WCAG 2.2 AA on tabs and forms that a click leads to', async () => {
    const found = await quiet(`applications/${every.applicationId}/edit`);
    for (const tab of ['versions', 'figures', 'requests', 'settings'])
      found.push(...(await quiet(`reactors/${every.reactorId}?tab=${tab}`)));
    for (const tab of ['versions', 'figures', 'address'])
      found.push(...(await quiet(`proxies/${every.proxyId}?tab=${tab}`)));
    assert.deepEqual(found, []);
  });

  it('is WCAG 2.2 AA on the account with sessions elsewhere', async () => {
    const other = await openVisitor(portal.browser, portal.mailed.app);
    await signInOn(other, ann.email, PASSWORD);
    await other.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await other.close();
    await ann.page.goto(`${ann.portal}/account`);
    await ann.page.getByRole('button', { name: 'End' }).waitFor();
    assert.deepEqual(await audit(ann.page, 'account', WIDTHS), []);
  });

  it('is WCAG 2.2 AA as the log grows, and with the details of an entry open', async () => {
    await live();
    await ann.page.locator('tr[data-entry]').first().waitFor();
    const found = await audit(ann.page, 'live log', WIDTHS);
    await opened('logs');
    await ann.page.locator('tr[data-entry]').first().getByRole('button').click();
    await ann.page.getByRole('dialog').getByText('As the API tells it').waitFor();
    found.push(...(await audit(ann.page, 'details of an entry', WIDTHS)));
    assert.deepEqual(found, []);
  });

  it('is WCAG 2.2 AA in dialogs: a form, a file, a confirmation, a name to type', async () => {
    const bob = await makeMember(portal.mailed.app, portal.tenant.id, 'READ_ONLY');
    const acts: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['members', () => ann.click('Invite somebody')],
      ['logs', () => ann.click('Export')],
      [
        'members',
        async () => {
          await ann.click(`Change ${bob.email}`);
          await ann.page.getByRole('menuitem', { name: 'Remove' }).click();
        },
      ],
      ['settings', () => ann.click('Delete')],
    ];
    const found: string[] = [];
    for (const [path, act] of acts) {
      await opened(path);
      await act();
      await ann.page.getByRole('dialog').or(ann.page.getByRole('alertdialog')).waitFor();
      found.push(...(await audit(ann.page, `dialog of ${path}`, WIDTHS)));
    }
    assert.deepEqual(found, []);
  });

  it('is WCAG 2.2 AA behind links that work: set-up, an invitation, a new password', async () => {
    const { app, clock, mailsTo } = portal.mailed;
    const links = createLinks({ clock, keys: app.keyStore.systemKeys });
    const owner = randomUUID();
    await app.db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [owner]);
    const setUp = await app.database.people((tx) => links.make(tx, owner, 'set-up', HOUR_MS));
    const email = `${randomUUID()}@example.com`;
    await app.call('POST', '/tenants/self/invitations', { key: portal.tenant.key, body: { email } });
    const bob = await makeMember(app, portal.tenant.id, 'READ_ONLY');
    await givePassword(app, bob.userId);
    await openBrowser(app).call('POST', '/portal/api/password/forgotten', { email: bob.email });
    const pages: readonly (readonly [string, string, string])[] = [
      ['set-up', setUp.reveal(), 'Finish the set-up'],
      ['invitations/accept', secretIn(await mailsTo(email, 1), 'invitations/accept'), 'Create the account and join'],
      ['reset-password', secretIn(await mailsTo(bob.email, 1), 'reset-password'), 'Set the password'],
    ];
    const found: string[] = [];
    const visitor = await openVisitor(portal.browser, app);
    await visitor.page.emulateMedia({ reducedMotion: 'reduce' });
    for (const [path, secret, act] of pages) {
      await visitor.page.goto(`${visitor.portal}/${path}#${secret}`);
      await visitor.page.getByRole('button', { name: act }).waitFor();
      found.push(...(await audit(visitor.page, path, WIDTHS)));
    }
    assert.deepEqual(visitor.faults, []);
    await visitor.close();
    assert.deepEqual(found, []);
  });

  function assertNoData(where: string, ...texts: readonly string[]): void {
    const all = texts.join('\n');
    for (const canary of CANARIES) assert.ok(!all.includes(canary), `${canary} in ${where}`);
  }
  const content = () => ann.page.content();

  it('has no data of tokens in the details of the log, as it grows, and in its files', async () => {
    const { app } = portal.mailed;
    const key = await app.makeKey(portal.tenant.id, 'private', ['token:create', 'token:read']);
    const tail = `/portal/api/tenants/${portal.tenant.id}/logs/tail`;
    await live();
    await ann.page.evaluate(`new Promise((open) => {
      window.told = [];
      const source = new EventSource('${tail}');
      source.onopen = () => open();
      source.onmessage = ({ data }) => window.told.push(data);
    })`);
    const { json } = await app.call('POST', '/tokens', { key, body: { type: 'card_number', data: CANARY } });
    await app.call('GET', `/tokens/${json.id}`, { key });
    await ann.reads('2 arrived');
    await ann.page.waitForFunction('window.told.length === 2');
    const told = String(await ann.page.evaluate('window.told.join()'));
    assert.ok(told.includes(json.id));
    assertNoData('the tail', told, await content());
    await opened(`logs?entity_id=${json.id}`);
    await ann.click('Token created');
    await ann.page.getByRole('dialog').getByText('As the API tells it').waitFor();
    assertNoData('the details', await content());
    for (const format of ['csv', 'ndjson']) {
      const file = String(
        await ann.page.evaluate(
          `fetch('${tail.replace('tail', 'export')}?format=${format}').then((answer) => answer.text())`,
        ),
      );
      assert.ok(file.includes(json.id), 'the entries are in it');
      assertNoData(format, file);
    }
  });

  it('has no data of tokens in the preview of a Proxy', async () => {
    await ann.open(`proxies/${every.proxyId}`);
    await ann.fill('Body', `{"number":"{{ ${every.tokenId} }}"}`);
    const [answer] = await Promise.all([
      ann.page.waitForResponse(/\/preview$/),
      ann.click('Show what would be sent'),
      ann.page.getByRole('region', { name: 'Request', exact: true }).getByText(every.tokenId).waitFor(),
    ]);
    assertNoData('a preview', await answer.text(), await content());
  });

  it('has no data of tokens in a test run, but what its code returns by itself', async () => {
    const editor = ann.page.getByRole('textbox', { name: 'Code', exact: true });
    const result = ann.page.getByRole('region', { name: 'raw', exact: true });
    await ann.open(`reactors/${every.reactorId}`);
    await editor.fill('module.exports = ({ args, client }) => { console.log(args, client); return { raw: args }; };');
    await ann.fill('Arguments (JSON)', JSON.stringify({ token: every.tokenId }));
    await ann.click('Run');
    await result.getByText(every.tokenId).waitFor();
    assertNoData('a test run', await content());
    await editor.fill(`module.exports = () => ({ raw: '${CANARY.slice(0, 8)}' + '${CANARY.slice(8)}' });`);
    await ann.click('Run');
    await result.getByText(CANARY).waitFor();
  });
});
