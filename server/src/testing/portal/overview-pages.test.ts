// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const HOSTILE = `<img src=x onerror=alert(1)>"'`;

describe('the overview of a tenant', () => {
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

  const call: PortalOfTenant['mailed']['app']['call'] = (...asked) => portal.mailed.app.call(...asked);
  const step = (title: string) => ann.page.getByRole('button', { name: title });
  const rows = () => ann.page.getByRole('table', { name: 'Log entries', exact: true }).locator('tbody tr');

  it('ticks a first step when its own line for a terminal was run, and says what is next', async () => {
    await ann.open('overview');
    await step('Create an Application Done').click();
    const line = await ann.page.locator('pre', { hasText: 'curl' }).innerText();
    assert.ok(line.startsWith(`curl ${new URL(ann.portal).origin}/applications `), line);
    assert.match(line, /-H "SVC-API-KEY: \$STRONGROOM_KEY"/);
    const made = await call('POST', '/applications', { key: portal.tenant.key, body: bodyIn(line) });
    assert.equal(made.status, 201);
    await step('Store the first value To do').click();
    const toStore = await ann.page.locator('pre', { hasText: 'curl' }).innerText();
    const stored = await call('POST', '/tokens', { key: made.json.key, body: bodyIn(toStore) });
    assert.equal(stored.status, 201);
    await ann.page.reload();
    await step('Store the first value Done').waitFor();
    await step('Read it To do').waitFor();
    assert.equal((await call('GET', `/tokens/${stored.json.id}`, { key: made.json.key })).status, 200);
    await ann.page.reload();
    await step('Read it Done').waitFor();
    for (const title of ['Give an Application no more than it needs', 'Run code on values, or pass them on']) {
      await step(title).click();
      const text = await ann.page.locator('pre', { hasText: 'curl' }).innerText();
      const [, path = ''] = /^curl http:\/\/localhost:\d+(\/\w+) /.exec(text) ?? [];
      assert.equal((await call('POST', path, { key: portal.tenant.key, body: bodyIn(text) })).status, 201, text);
    }
    await ann.page.reload();
    await ann.reads('6 of 7 done.');
    await ann.page.getByRole('link', { name: 'Go to your account' }).click();
    await ann.page.waitForURL(/\/portal\/account$/);
  });

  it('hides the first steps for good where somebody does not want them', async () => {
    await ann.open('overview');
    await ann.click('Hide');
    await ann.reads('Active tokens this month');
    assert.equal(await ann.page.getByText('First steps').count(), 0);
    await ann.page.reload();
    await ann.reads('Active tokens this month');
    assert.equal(await ann.page.getByText('First steps').count(), 0);
  });

  it('has every figure lead to the entries behind it', async () => {
    const key = await portal.mailed.app.makeKey(portal.tenant.id, 'private', ['token:create', 'token:read']);
    const { json: token } = await call('POST', '/tokens', { key, body: { type: 'bank', data: BANK } });
    for (let time = 0; time < 3; time += 1) await call('GET', `/tokens/${token.id}`, { key });
    const { json } = await call('GET', '/logs?operation=read&size=1000', { key: portal.tenant.key });
    await ann.open('overview');
    const bank = ann.page.getByRole('row', { name: /^Bank/ });
    assert.match(await bank.innerText(), /\b1\b/);
    await ann.page.getByRole('link', { name: `Read: ${json.data.length}, show them` }).click();
    await ann.page.waitForURL(/logs\?.*operation=read/);
    await rows().first().waitFor();
    assert.equal(await rows().count(), json.data.length);
    await ann.page.goBack();
    await ann.page.getByRole('link', { name: /^Bank: 1, show when/ }).click();
    await ann.page.waitForURL(/entity_type=bank&operation=create/);
    await rows().first().waitFor();
    assert.deepEqual(await rows().getByText(token.id).allInnerTexts(), [token.id]);
  });

  it('opens the log of a day by the keyboard, with a picture that also tells its figures as a table', async () => {
    await ann.open('overview');
    const slider = ann.page.getByRole('slider', { name: /^Log entries of the last 30 days by operation/ });
    await slider.focus();
    await ann.page.keyboard.press('End');
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /Sign in \d/);
    const table = ann.page.getByRole('table', { name: 'Log entries of the last 30 days by operation' });
    assert.equal(await table.locator('tbody tr').count(), 30);
    await ann.page.keyboard.press('Enter');
    const today = new Date(portal.mailed.clock.nowMs()).toISOString().slice(0, 10);
    await ann.page.waitForURL(new RegExp(`logs\\?start_date=${today}&end_date=`));
    await rows().first().waitFor();
  });

  it('shows names as text, whatever they are, and an Application that is gone without its name', async () => {
    const made = await call('POST', '/applications', {
      key: portal.tenant.key,
      body: { name: HOSTILE, type: 'private', permissions: ['token:create'] },
    });
    for (let time = 0; time < 30; time += 1) {
      await call('POST', '/tokens', { key: made.json.key, body: { type: 'token', data: 'x' } });
    }
    await ann.open('overview');
    await ann.page.getByRole('link', { name: HOSTILE, exact: true }).waitFor();
    assert.equal(await ann.page.locator('img[src="x"]').count(), 0);
    await call('DELETE', `/applications/${made.json.id}`, { key: portal.tenant.key });
    await ann.page.reload();
    await ann.reads(`Deleted, ${made.json.id}`);
    await ann.page.getByRole('link', { name: 'Deleted Application: 30, show them' }).click();
    await ann.page.waitForURL(new RegExp(`actor_id=${made.json.id}`));
    await rows().first().waitFor();
    assert.equal(await rows().count(), 30);
  });

  it('says how refusals get into the log where they do not', async () => {
    await ann.open('overview');
    await ann.reads('Refusals are not logged');
    await ann.reads('STRONGROOM_AUDIT=full');
  });

  it('shows a member who may only look everything but what that member cannot do', async () => {
    const reader = await portal.visit('READ_ONLY');
    await reader.open('overview');
    await reader.reads('Your role can only look here');
    await reader.page.getByRole('button', { name: 'Create an Application' }).click();
    await reader.reads('Its permissions say what the key can do.');
    assert.equal(await reader.page.locator('pre', { hasText: 'curl' }).count(), 0);
    assert.equal(await reader.page.getByRole('link', { name: 'Go to Applications' }).count(), 0);
    await reader.leave();
  });
});

describe('the overview where refusals are logged', () => {
  it('counts them by day, and leads to them', async () => {
    const portal = await startPortalOfTenant({ STRONGROOM_AUDIT: 'full' });
    const { app } = portal.mailed;
    const key = await app.makeKey(portal.tenant.id, 'private', ['token:create']);
    for (let time = 0; time < 4; time += 1) {
      assert.equal((await app.call('GET', '/tenants/self', { key })).status, 403);
    }
    const ann = await portal.visit();
    await ann.open('overview');
    await ann.page.getByRole('link', { name: '4: the log of refusals' }).waitFor();
    const slider = ann.page.getByRole('slider', { name: /^Refused requests/ });
    await slider.focus();
    await ann.page.keyboard.press('End');
    await ann.page.keyboard.press('Enter');
    await ann.page.waitForURL(/outcome=denied/);
    const denied = ann.page.getByRole('button', { name: 'Request denied' });
    await denied.first().waitFor();
    assert.equal(await denied.count(), 4);
    await ann.leave();
    await portal.close();
  });
});

describe('the usage of a tenant', () => {
  let portal: PortalOfTenant;
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());

  it('tells the report of the API, and that there is no earlier month yet', async () => {
    const { app } = portal.mailed;
    const key = await app.makeKey(portal.tenant.id, 'private', ['token:create']);
    for (const data of ['a', 'b', 'c']) await app.call('POST', '/tokens', { key, body: { type: 'token', data } });
    const { json } = await app.call('GET', '/tenants/self/reports/usage', { key: portal.tenant.key });
    assert.equal(json.token_report.monthly_active_tokens, 3);
    const ann = await portal.visit('READ_ONLY');
    await ann.open('usage');
    await ann.reads('997 left of 1,000 included.');
    await ann.reads('There is no earlier month');
    const types = ann.page.getByRole('table', { name: 'Tokens by type' });
    assert.match(await types.getByRole('row', { name: /^Token / }).innerText(), /3/);
    assert.match(await types.getByRole('row', { name: /^Card / }).innerText(), /0\s+None yet/);
    await ann.leave();
  });

  it('shows the months before as a picture and a table, each with its log', async () => {
    const { app, clock } = portal.mailed;
    const now = new Date(clock.nowMs());
    const month = now.toISOString().slice(0, 7);
    await portal.mailed.pass(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2) - now.getTime());
    const ann = await portal.visit();
    await ann.open('usage');
    const before = ann.page.getByRole('table', { name: 'Months before' }).locator('tbody tr');
    await before.first().waitFor();
    assert.equal(await before.count(), 1);
    assert.match(await before.innerText(), /3$/);
    const picture = ann.page.getByRole('table', { name: 'Active tokens by month' }).locator('tbody tr');
    assert.deepEqual(
      (await picture.allInnerTexts()).map((text) => text.split('\t').at(-1)),
      ['3', '0'],
    );
    await before.getByRole('link').click();
    await ann.page.waitForURL(new RegExp(`logs\\?start_date=${month}-01&end_date=\\d{4}-\\d\\d-01`));
    const { json } = await app.call('GET', `/logs?operation=create&entity_type=token&size=1000`, {
      key: portal.tenant.key,
    });
    assert.equal(json.data.length, 3);
    const created = ann.page.getByRole('button', { name: 'Token created' });
    await created.first().waitFor();
    assert.equal(await created.count(), 3);
    await ann.leave();
  });
});

const BANK = { routing_number: '021000021', account_number: '00012345' };

/** What a line for a terminal sends. */
function bodyIn(line: string): unknown {
  const [, body = ''] = / -d '(.*)'$/s.exec(line) ?? [];
  return JSON.parse(body);
}
