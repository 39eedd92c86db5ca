// needs: chromium

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { PASSWORD } from '../../resources/portal/portal-fixture.js';
import { eventually } from '../eventually.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

/** What a page keeps at most. */
const KEPT = 500;

describe('the log as it grows', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  let key: string;
  before(async () => {
    portal = await startPortalOfTenant();
    key = await portal.mailed.app.makeKey(portal.tenant.id, 'private', ['token:create', 'token:read']);
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit();
  });
  afterEach(() => ann.leave());

  const status = () => ann.page.getByRole('status').filter({ hasText: /Live|Paused|Connect|signed out/ });
  /** Writes so many entries, a millisecond after the ones before. */
  const write = async (count: number) => {
    await portal.mailed.pass(1);
    const body = Array.from({ length: count }, (_, at) => ({ type: 'token', data: `${at}` }));
    assert.equal((await portal.mailed.app.call('POST', '/tokenize', { key, body })).status, 200);
  };
  const newest = async (count: number): Promise<readonly string[]> => {
    const query = `include=details&size=${count}&operation=create&entity_type=token`;
    const { json } = await portal.mailed.app.call('GET', `/logs?${query}`, { key: portal.tenant.key });
    return json.data.map((entry: { readonly id: string }) => entry.id);
  };
  const shownIds = async () =>
    (await ann.page.evaluate(
      `[...document.querySelectorAll('tr[data-entry]')].map((row) => row.dataset.entry)`,
    )) as readonly string[];
  const follow = async (query = 'operation=create&entity_type=token') => {
    await ann.open(`logs?live=1&${query}`);
    await status().filter({ hasText: 'Live' }).waitFor();
  };

  /** A visit whose connections can be broken. */
  const comeThroughProxy = async (t: TestContext) => {
    const way = await startTcpProxy(portal.mailed.app.port);
    t.after(() => way.close());
    await ann.leave();
    ann = await portal.visit('READ_ONLY', portal.tenant.id, way);
    return way;
  };

  it('shows what is written under load, each once and in order, and never more than it keeps', async () => {
    await write(3);
    await follow();
    await ann.page.locator('tr[data-entry]').nth(2).waitFor();
    await ann.page.evaluate(`{
      window.mostRows = 0;
      new MutationObserver(() => {
        window.mostRows = Math.max(window.mostRows, document.querySelectorAll('tr[data-entry]').length);
      }).observe(document.body, { childList: true, subtree: true });
    }`);
    for (let round = 0; round < 14; round += 1) await write(50);
    await ann.reads('700 arrived');
    await eventually('all rows', async () => (await shownIds()).length === KEPT);
    assert.deepEqual(await shownIds(), await newest(KEPT));
    assert.ok(Number(await ann.page.evaluate('window.mostRows')) <= KEPT);
  });

  it('stands still while it is paused, counts what arrives, and shows it afterwards', async () => {
    await follow();
    await write(2);
    await ann.reads('2 arrived');
    await ann.click('Pause');
    const before = await shownIds();
    await write(7);
    await ann.reads('7 arrived since');
    assert.deepEqual(await shownIds(), before);
    await ann.click('Resume');
    await ann.reads('9 arrived');
    assert.deepEqual((await shownIds()).slice(0, 9), await newest(9));
  });

  it('says when the connection is lost, and goes on behind the last entry it has seen', async (t) => {
    const way = await comeThroughProxy(t);
    await follow();
    await write(3);
    await ann.reads('3 arrived');
    await way.refuse();
    await ann.reads('Connection lost. Reconnecting, and going on where it stopped');
    await write(5);
    await way.accept();
    await ann.reads('8 arrived');
    await status().filter({ hasText: 'Live' }).waitFor();
    assert.deepEqual((await shownIds()).slice(0, 8), await newest(8));
    assert.equal(await ann.page.getByText('Some entries may be missing here').count(), 0);
  });

  it('tries again by itself where it is refused for a while, and still loses nothing', async (t) => {
    const way = await comeThroughProxy(t);
    await follow();
    await write(2);
    await ann.reads('2 arrived');
    const refused = '**/logs/tail*';
    await ann.page.route(refused, (route) => route.fulfill({ status: 503 }));
    const asked = ann.page.waitForRequest(/logs\/tail\?.*after=/);
    way.resetAll();
    await asked;
    await write(3);
    await ann.page.unroute(refused);
    await ann.reads('5 arrived');
    assert.deepEqual((await shownIds()).slice(0, 5), await newest(5));
  });

  it('says that entries may be missing where it was away for too long', async (t) => {
    const way = await comeThroughProxy(t);
    await follow();
    await way.refuse();
    await portal.mailed.pass(16 * 60_000);
    await write(2);
    await way.accept();
    await ann.reads('Some entries may be missing here');
    await eventually('the newest are shown all the same', async () => {
      const [shown, expected] = [await shownIds(), await newest(2)];
      return shown[0] === expected[0] && shown[1] === expected[1];
    });
  });

  it('shows only what the filter matches, and follows it when it changes', async () => {
    await follow('operation=read');
    const { json } = await portal.mailed.app.call('POST', '/tokens', { key, body: { type: 'token', data: 'x' } });
    await portal.mailed.app.call('GET', `/tokens/${json.id}`, { key });
    await ann.reads('1 arrived');
    await ann.page.getByRole('button', { name: 'Token retrieved' }).first().waitFor();
    assert.equal(await ann.page.getByRole('button', { name: 'Token created' }).count(), 0);
    await ann.page.getByLabel('Operation', { exact: true }).selectOption('Create');
    await ann.reads('0 arrived');
    await status().filter({ hasText: 'Live' }).waitFor();
    await write(1);
    await ann.reads('1 arrived');
    assert.match(ann.page.url(), /live=1&operation=create|operation=create&live=1/);
  });

  it('opens the details of an entry that arrived, and keeps them when the row is gone', async () => {
    await follow();
    await write(1);
    await ann.reads('1 arrived');
    await ann.page.getByRole('button', { name: 'Token created' }).first().click();
    const [id] = await newest(1);
    await ann.page.getByRole('dialog').getByText(String(id), { exact: true }).waitFor();
    for (let round = 0; round < 11; round += 1) await write(50);
    await eventually('its row is gone', async () => {
      const shown = await shownIds();
      return shown.length === KEPT && !shown.includes(String(id));
    });
    await ann.page.getByRole('dialog').getByText(String(id), { exact: true }).waitFor();
  });

  it('ends for somebody who is signed out, and says so', async () => {
    await follow();
    const [other] = [await ann.context.newPage()];
    await other.goto(`${ann.portal}/account`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.waitForURL(/sign-in/);
    await portal.mailed.pass(31_000);
    await ann.reads('You are signed out. Sign in again to go on');
    assert.equal(await ann.page.getByRole('button', { name: 'Pause' }).count(), 0);
    assert.match((await ann.page.getByRole('link', { name: 'Sign in' }).getAttribute('href')) ?? '', /sign-in\?to=/);
  });

  it('goes on where somebody proves in another tab who it is, which gives a new session', async () => {
    await follow();
    const other = await ann.context.newPage();
    await other.goto(`${ann.portal}/account`);
    const status = await other.evaluate(`fetch('/portal/api/step-up', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ password: ${JSON.stringify(PASSWORD)} }),
    }).then((answer) => answer.status)`);
    assert.equal(status, 200);
    await other.close();
    const again = ann.page.waitForRequest(/logs\/tail\?.*after=/);
    await portal.mailed.pass(31_000);
    await again;
    await write(2);
    await ann.reads('2 arrived');
    assert.equal(await ann.page.getByText('You are signed out').count(), 0);
  });

  it('leaves the live view to the list with the same filter', async () => {
    await follow();
    await ann.click('Leave live view');
    await ann.page.waitForURL(/logs\?operation=create&entity_type=token$/);
    await ann.reads(/ entries$/);
    assert.deepEqual(await shownIds(), await newest(50));
  });
});
