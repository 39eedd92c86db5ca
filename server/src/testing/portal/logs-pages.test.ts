// needs: chromium

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../eventually.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const HOSTILE = `<img src=x onerror=alert(1)>"'`;
const DAY_MS = 86_400_000;

describe('the log of a tenant', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  let application: { readonly id: string; readonly key: string };
  before(async () => {
    portal = await startPortalOfTenant();
    const { app } = portal.mailed;
    const permissions = ['token:create', 'token:read', 'token:update'];
    application = await app.makeApplication(portal.tenant.id, 'private', permissions);
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit();
  });
  afterEach(() => ann.leave());

  const call: PortalOfTenant['mailed']['app']['call'] = (...asked) => portal.mailed.app.call(...asked);
  const rows = () => ann.page.getByRole('table', { name: 'Log entries', exact: true }).locator('tbody tr');
  const drawer = () => ann.page.getByRole('dialog');
  const shownIds = () =>
    rows().evaluateAll((all) =>
      all.map((row) => (row as unknown as { readonly dataset: { readonly entry: string } }).dataset.entry),
    );
  const makeToken = async (body: object = { type: 'token', data: 'x' }): Promise<string> => {
    const { status, json } = await call('POST', '/tokens', { key: application.key, body });
    assert.equal(status, 201);
    return json.id;
  };
  const logs = async (query: string) => {
    const { json } = await call('GET', `/logs?include=details&size=1000&${query}`, { key: portal.tenant.key });
    return json.data as readonly { readonly id: string; readonly [name: string]: unknown }[];
  };
  const idsOf = async (query: string) => (await logs(query)).map(({ id }) => id);
  /** Sessions end when much time passes. */
  const passDays = async (days: number) => {
    await portal.mailed.pass(days * DAY_MS);
    await ann.leave();
    ann = await portal.visit();
  };
  /** Waits until the page shows exactly these. */
  const shows = async (ids: readonly string[]) => {
    await ann.page.locator(`tr[data-entry="${ids[0]}"]`).waitFor();
    await eventually(`${ids.length} rows`, async () => (await rows().count()) === ids.length);
    assert.deepEqual(await shownIds(), ids);
  };

  it('narrows by every filter, keeps all of it in the address, and takes each away again', async () => {
    const id = await makeToken();
    await call('GET', `/tokens/${id}`, { key: application.key });
    await call('PATCH', `/tokens/${id}`, { key: application.key, body: { metadata: { a: 'b' } } });
    await ann.open('logs');
    await ann.page.getByLabel('Type', { exact: true }).selectOption('Token');
    await ann.page.getByLabel('Operation', { exact: true }).selectOption('Read');
    await ann.page.getByLabel('Outcome', { exact: true }).selectOption('Success');
    await ann.fill('Entity id', ` ${id} `);
    await ann.fill('Actor id', application.id);
    await ann.page.keyboard.press('Enter');
    await ann.page.waitForURL(new RegExp(`actor_id=${application.id}`));
    await shows(await idsOf(`entity_id=${id}&operation=read`));
    const { searchParams } = new URL(ann.page.url());
    assert.deepEqual(Object.fromEntries(searchParams), {
      ...{ entity_type: 'token', operation: 'read', outcome: 'success', entity_id: id, actor_id: application.id },
    });
    await ann.page.reload();
    await shows(await idsOf(`entity_id=${id}&operation=read`));
    assert.equal(await ann.page.getByLabel('Operation', { exact: true }).inputValue(), 'read');
    await ann.click('Remove Operation: read');
    await shows(await idsOf(`entity_id=${id}`));
    await ann.click('Clear all');
    await ann.page.waitForURL(/\/logs$/);
    assert.equal(await ann.page.getByLabel('Entity id', { exact: true }).inputValue(), '');
  });

  it('calls who acted by name in its details, and who is gone by id alone', async () => {
    const { app } = portal.mailed;
    const body = { name: 'Checkout <b>', type: 'management', permissions: ['tenant:read', 'tenant:update'] };
    const { json: made } = await call('POST', '/applications', { key: portal.tenant.key, body });
    await app.call('PUT', '/tenants/self', { key: made.key, body: { name: 'Ours' } });
    await ann.open(`logs?actor_id=${made.id}`);
    await rows().first().getByRole('button').click();
    await drawer().getByText('Application Checkout <b>').waitFor();
    await call('DELETE', `/applications/${made.id}`, { key: portal.tenant.key });
    await ann.page.reload();
    await drawer().getByText('Application', { exact: true }).waitFor();
    await drawer().getByText(made.id, { exact: true }).first().waitFor();
    assert.equal(await drawer().getByText('Checkout <b>').count(), 0);
  });

  it('shows the time that was chosen: spans that end now, and from one moment to another', async () => {
    const early = await makeToken();
    await passDays(3);
    const fromMs = Math.ceil(portal.mailed.clock.nowMs() / 60_000) * 60_000;
    await portal.mailed.pass(fromMs - portal.mailed.clock.nowMs());
    const late = await makeToken();
    await portal.mailed.pass(60_000);
    await makeToken();
    await ann.open('logs?operation=create&entity_type=token');
    await ann.click(/^Times are local/);
    await ann.page.getByLabel('Time', { exact: true }).selectOption('Custom');
    await ann.fill('From (UTC)', new Date(fromMs).toISOString().slice(0, 16));
    await ann.fill('To (UTC)', new Date(fromMs - 60_000).toISOString().slice(0, 16));
    await ann.click('Apply');
    await ann.reads('This is before the time in From.');
    await ann.fill('To (UTC)', new Date(fromMs + 60_000).toISOString().slice(0, 16));
    await ann.click('Apply');
    await shows(await idsOf(`entity_id=${late}`));
    await ann.page.reload();
    await shows(await idsOf(`entity_id=${late}`));
    await ann.click('Remove Chosen time');
    await ann.page.getByLabel('Time', { exact: true }).selectOption('Last 7 days');
    await ann.page.waitForURL(/range=7d/);
    await ann.page.getByText(early).first().waitFor();
    await ann.open(`logs?entity_id=${early}&end_date=2020-01-01`);
    await ann.reads('Nothing in this time');
    await ann.click('Look at any time');
    await shows(await idsOf(`entity_id=${early}`));
  });

  it('narrows to the span of a bar that was clicked, and counts what the list has', async () => {
    const id = await makeToken();
    await passDays(2);
    await call('GET', `/tokens/${id}`, { key: application.key });
    await ann.open(`logs?entity_id=${id}`);
    await ann.reads('2 entries');
    const slider = ann.page.getByRole('slider', { name: /^Log entries over time/ });
    const box = (await slider.boundingBox()) ?? assert.fail('no picture');
    await slider.click({ position: { x: box.width - 2, y: box.height / 2 } });
    await ann.page.waitForURL(/start_date=.*end_date=/);
    await ann.reads('1 entry');
    await shows(await idsOf(`entity_id=${id}&operation=read`));
  });

  it('says which bars may be higher where not all entries were counted', async () => {
    await ann.page.route('**/logs/histogram*', async (route) => {
      const response = await route.fetch();
      const histogram = await response.json();
      const completeFrom = histogram.buckets.at(-1).from;
      await route.fulfill({ response, json: { ...histogram, is_partial: true, complete_from: completeFrom } });
    });
    await makeToken();
    await ann.open('logs');
    await ann.reads(/^At least \d+ entr/);
    await ann.reads('There are more entries than were counted.');
    const cells = ann.page.getByRole('table', { name: 'Log entries over time' }).locator('tbody td');
    const texts = await cells.allInnerTexts();
    assert.ok(texts.slice(0, -1).every((text) => text.startsWith('at least ')));
    assert.match(texts.at(-1) ?? '', /^\d+$/);
  });

  it('goes back page by page, each entry once, and a page further back can be reloaded', async () => {
    const body = Array.from({ length: 60 }, (_, at) => ({ type: 'token', data: `${at}` }));
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await call('POST', '/tokenize', { key: application.key, body })).status, 200);
    }
    const query = `operation=create&entity_type=token&actor_id=${application.id}`;
    const all = await idsOf(query);
    await ann.open(`logs?range=30d&${query}`);
    await shows(all.slice(0, 50));
    await ann.click('Older');
    await shows(all.slice(50, 100));
    await ann.page.reload();
    await shows(all.slice(50, 100));
    await ann.click('Older');
    await shows(all.slice(100, 150));
    await ann.click('Newest');
    await shows(all.slice(0, 50));
    assert.ok(!ann.page.url().includes('start='));
  });

  it('shows all of an entry, the raw JSON of the API, and more like it', async () => {
    const id = await makeToken({ type: 'card', data: CARD });
    const [entry] = await logs(`entity_id=${id}`);
    await ann.open(`logs?entity_id=${id}`);
    await ann.click('Token created');
    await ann.page.waitForURL(new RegExp(`entry=${entry?.id}`));
    assert.deepEqual(JSON.parse(await drawer().locator('pre').innerText()), entry);
    for (const value of [entry?.trace_id, entry?.id, entry?.source_address, 'Success', 'Card']) {
      await drawer().getByText(String(value), { exact: true }).first().waitFor();
    }
    const link = drawer().getByRole('link', { name: application.id });
    assert.equal(await link.getAttribute('href'), `/portal/tenants/${portal.tenant.id}/applications/${application.id}`);
    await drawer().getByRole('button', { name: 'Same actor id' }).click();
    await ann.page.waitForURL(new RegExp(`entity_id=${id}&actor_id=${application.id}$`));
    await drawer().waitFor({ state: 'hidden' });
    assert.ok(!(await ann.page.content()).includes(CARD.number), 'no token data');
  });

  it('opens a copied link on the same entry, also where no page shows it, and says when there is none', async () => {
    const id = await makeToken();
    const [entry] = await logs(`entity_id=${id}`);
    await ann.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await ann.open(`logs?entity_id=${id}`);
    await ann.click('Token created');
    await drawer().getByRole('button', { name: 'Copy link' }).click();
    await drawer().getByText('Copied').waitFor();
    const copied = String(await ann.page.evaluate('navigator.clipboard.readText()'));
    assert.equal(copied, ann.page.url());
    await ann.page.goto(copied.replace(`entity_id=${id}`, 'entity_id=nothing'));
    await drawer().getByText(id, { exact: true }).waitFor();
    assert.deepEqual(JSON.parse(await drawer().locator('pre').innerText()), entry);
    await ann.page.keyboard.press('Escape');
    await drawer().waitFor({ state: 'hidden' });
    await ann.reads('No entry matches');
    await ann.open('logs?entry=0197c7f0-0000-7000-8000-000000000000');
    await ann.reads('There is no such entry');
  });

  it('copies the address with the filter as it stands, which shows the same again', async () => {
    const id = await makeToken();
    await call('GET', `/tokens/${id}`, { key: application.key });
    await ann.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await ann.open('logs');
    await ann.fill('Entity id', id);
    await ann.page.keyboard.press('Enter');
    await ann.page.getByLabel('Operation', { exact: true }).selectOption('Read');
    await shows(await idsOf(`entity_id=${id}&operation=read`));
    await ann.click('Copy link');
    await ann.reads('Copied');
    const copied = String(await ann.page.evaluate('navigator.clipboard.readText()'));
    assert.deepEqual(Object.fromEntries(new URL(copied).searchParams), { entity_id: id, operation: 'read' });
    await ann.page.goto(copied);
    await shows(await idsOf(`entity_id=${id}&operation=read`));
  });

  it('says at its field what the server finds wrong', async () => {
    await ann.open('logs');
    await ann.fill('Entity id', 'a'.repeat(401));
    await ann.click('Apply');
    await ann.reads('The filter has a mistake');
    const field = ann.page.getByLabel('Entity id', { exact: true });
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await ann.page.getByText(/400 characters/).waitFor();
    await ann.open('logs?start_date=yesterday');
    await ann.page.getByText(/must be a complete ISO 8601 date/).waitFor();
    assert.equal(await ann.page.getByLabel('From', { exact: true }).getAttribute('aria-invalid'), 'true');
    await ann.open('logs?start=made-up');
    await ann.click('Show the newest');
    await rows().first().waitFor();
  });

  it('shows hostile ids, traces and addresses as text', async () => {
    const id = `img src:x onerror:alert(1)"' ${portal.tenant.id}`;
    const { status } = await call('POST', '/tokens', {
      key: application.key,
      body: { id, type: 'token', data: 'x' },
      headers: { 'SVC-TRACE-ID': HOSTILE.replaceAll(' ', '/') },
    });
    assert.equal(status, 201);
    await ann.open(`logs?${new URLSearchParams({ entity_id: id })}`);
    await ann.click('Token created');
    await drawer().getByText(HOSTILE.replaceAll(' ', '/'), { exact: true }).waitFor();
    await drawer().getByText(id, { exact: true }).waitFor();
    const query = new URLSearchParams({
      ...{ entity_id: HOSTILE, operation: HOSTILE, actor_id: HOSTILE, entity_type: HOSTILE, outcome: HOSTILE },
      ...{ entry: HOSTILE, range: HOSTILE, at: HOSTILE },
    });
    await ann.open(`logs?${query}`);
    await ann.reads('There is no such entry');
    await ann.page.keyboard.press('Escape');
    await ann.reads(`Operation: ${HOSTILE}`);
    assert.equal(await ann.page.locator('img[src="x"]').count(), 0);
  });

  it('says where an export is refused', async () => {
    await ann.open('logs');
    await ann.click('Export');
    await ann.page.route('**/logs/export?*', (route) => route.fulfill({ status: 503 }));
    await ann.page.getByRole('link', { name: /CSV/ }).click();
    await ann.reads('The server gives no file now. Try again shortly.');
  });

  it('exports what the filter matches, as CSV and as NDJSON, and the log has it', async () => {
    const reader = await portal.visit('READ_ONLY');
    const id = await makeToken();
    await call('GET', `/tokens/${id}`, { key: application.key });
    await reader.open(`logs?entity_id=${id}`);
    await reader.click('Export');
    await reader.reads('The export is logged, with your name.');
    const fileOf = async (name: RegExp) => {
      const [download] = await Promise.all([
        reader.page.waitForEvent('download'),
        reader.page.getByRole('link', { name }).click(),
      ]);
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
    };
    const lines = await fileOf(/^NDJSON/);
    assert.match(lines.name, /\.ndjson$/);
    const entries = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      entries.map((entry) => entry.id),
      await idsOf(`entity_id=${id}`),
    );
    const table = await fileOf(/^CSV/);
    assert.match(table.name, /\.csv$/);
    assert.equal(table.text.trim().split(/\r?\n/).length, 3, 'a head and two entries');
    const exported = await logs(`entity_id=${portal.tenant.id}&operation=read`);
    assert.deepEqual(
      exported.map(({ message }) => message),
      ['Logs exported', 'Logs exported'],
    );
    await reader.leave();
  });

  it('fits a narrow screen, with the details over it', async () => {
    await ann.page.setViewportSize({ width: 390, height: 800 });
    await makeToken();
    await ann.open('logs');
    await rows().first().getByRole('button').click();
    await drawer().waitFor();
    assert.ok(((await ann.page.evaluate('document.documentElement.scrollWidth')) as number) <= 390);
  });
});

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 };
