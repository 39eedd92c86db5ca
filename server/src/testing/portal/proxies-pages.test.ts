// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { TestDestination } from '../../resources/proxies/run/destination-fixture.js';
import { startDestination } from '../../resources/proxies/run/destination-fixture.js';
import { assertNothingRan, definitionTests, HOSTILE } from './definition-pages-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const DESTINATION = 'https://api.provider.example/v1';
const CODE = 'module.exports = async ({ args }) => ({ body: args.body, headers: args.headers });';

describe('the pages of Proxies', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  const { call, make, heading, write } = definitionTests(() => portal);
  let destination: TestDestination;
  before(async () => {
    destination = await startDestination();
    portal = await startPortalOfTenant(destination.env);
  });
  after(async () => {
    await portal?.close();
    await destination?.close();
  });
  beforeEach(async () => {
    ann = await portal.visit();
  });
  afterEach(() => ann.leave());

  const get = async (id: string) => (await call('GET', `/proxies/${id}`)).json;

  it('makes the first one with code and settings, told at its field what is wrong, and shows its address', async () => {
    await ann.open('proxies');
    await ann.reads('There are no Proxies yet');
    await ann.page.getByRole('link', { name: 'New Proxy' }).first().click();
    await heading(ann, 'New Proxy');
    await ann.fill('Name', 'Charge');
    await ann.fill('Destination', 'https://10.0.0.1/');
    await ann.click('Create the Proxy');
    await ann.reads('must name a host, not an IP address');
    assert.equal(await ann.page.getByLabel('Destination', { exact: true }).getAttribute('aria-invalid'), 'true');
    assert.equal((await call('GET', '/proxies')).json.pagination.total_items, 0);
    await ann.fill('Destination', DESTINATION);
    await ann.click('Add code for requests');
    await write(ann, 'Code for requests', CODE);
    await ann.click('Add a value');
    await ann.fill('Name of the value', 'PROVIDER_KEY');
    await ann.fill('New value', 'pk_test');
    await ann.click('Create the Proxy');
    await heading(ann, 'Charge');
    const [made] = (await call('GET', '/proxies')).json.data;
    assert.deepEqual(
      [made.destination_url, made.request_transform, made.response_transform, made.configuration, made.require_auth],
      [DESTINATION, { code: CODE }, undefined, { PROVIDER_KEY: 'pk_test' }, true],
    );
    await ann.reads(`SVC-PROXY-KEY: ${made.key}`);
    assert.ok(!ann.page.url().includes(made.key), 'the key is in no address');
  });

  it('changes what was changed: callers without a key, no code, another destination', async () => {
    const id = await make('/proxies', {
      ...{ name: 'Changed', destination_url: DESTINATION, configuration: { KEEP: 'a\nb' } },
      ...{ request_transform: { code: CODE }, response_transform: { code: CODE } },
    });
    await ann.open(`proxies/${id}`);
    await ann.page.getByLabel('Calls need an API key').uncheck();
    await ann.click('Remove code for answers');
    await ann.fill('Destination', 'http://plain.example');
    await ann.click('Save');
    await ann.reads('must begin with https:// and a host name');
    assert.deepEqual([(await get(id)).require_auth, (await get(id)).destination_url], [true, DESTINATION]);
    await ann.fill('Destination', `${DESTINATION}/new`);
    await ann.click('Save');
    await ann.reads('Saved. The next call uses it; the version before is kept.');
    const saved = await get(id);
    assert.deepEqual(
      [
        saved.require_auth,
        saved.destination_url,
        saved.request_transform,
        saved.response_transform,
        saved.configuration,
      ],
      [false, `${DESTINATION}/new`, { code: CODE }, undefined, { KEEP: 'a\nb' }],
    );
    await ann.open('proxies?name=Changed');
    await ann.reads('Anybody with its address');
  });

  it('previews a request of a stored Proxy and of a draft, with expressions as they are written; nothing is sent', async () => {
    const id = await make('/proxies', { name: 'Previewed', destination_url: DESTINATION });
    await ann.open(`proxies/${id}`);
    await ann.fill('Path and query', '/charges?a={{ 0c6a5d3e }}');
    await ann.fill('Headers', `Content-Type: application/json\nX-Note: ${HOSTILE}\nSVC-API-KEY: key_pvt_x`);
    await ann.fill('Body', '{"number":"{{ 0c6a5d3e }}"}');
    await ann.click('Show what would be sent');
    const request = ann.page.getByRole('region', { name: 'Request', exact: true });
    const text = ((await request.textContent()) ?? '').replaceAll('%20', ' ');
    assert.match(text, /^POST https:\/\/api\.provider\.example\/v1\/charges\?a=/);
    assert.ok(text.includes(HOSTILE) && text.includes('{"number":"{{ 0c6a5d3e }}"}'), text);
    assert.ok(!text.includes('key_pvt_x'), 'headers of ours are not forwarded');
    await ann.fill('Headers', 'no header');
    await ann.reads(/is written as Name: value/);
    await ann.fill('Headers', '');
    await ann.fill('Path and query', 'charges');
    await ann.click('Show what would be sent');
    await ann.reads('must be empty or begin with / or ?');
    await ann.fill('Path and query', '/elsewhere');
    await ann.fill('Destination', 'https://draft.example');
    await ann.click('Show what would be sent');
    await request.getByText('https://draft.example/elsewhere').waitFor();
    assert.equal((await get(id)).destination_url, DESTINATION);
    await assertNothingRan(ann);
  });

  it('compares the destination and both codes of versions, and restores one', async () => {
    const id = await make('/proxies', { name: 'Versions', destination_url: DESTINATION });
    await call('PATCH', `/proxies/${id}`, { destination_url: `${DESTINATION}0`, response_transform: { code: CODE } });
    await ann.open(`proxies/${id}?tab=versions`);
    const destination = ann.page.getByRole('table', { name: /^Destination/ });
    await destination.getByText(`${DESTINATION}0`, { exact: true }).waitFor();
    assert.deepEqual(await destination.locator('tbody tr').allTextContents(), [
      `1−removed${DESTINATION}`,
      `1+added${DESTINATION}0`,
    ]);
    await ann.page
      .getByRole('table', { name: /^Code for answers/ })
      .getByText(CODE)
      .waitFor();
    await ann.reads('Code for requests: the same in both.');
    await ann.click('Restore');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await ann.reads('Version 1 is in use again.');
    const restored = await get(id);
    assert.deepEqual([restored.destination_url, restored.response_transform], [DESTINATION, undefined]);
  });

  it('counts its calls: what succeeded, what failed and why', async () => {
    const id = await make('/proxies', { name: 'Counted', destination_url: destination.named });
    await ann.open(`proxies/${id}?tab=figures`);
    await ann.reads('No calls in the last 30 days');
    const { key: proxyKey } = await get(id);
    const key = await portal.mailed.app.makeKey(portal.tenant.id, 'private', ['token:use']);
    destination.answers.set('/broken', (response) => response.destroy());
    for (const [path, status] of [
      ['fine', 200],
      ['fine', 200],
      ['broken', 502],
    ] as const) {
      const called = await portal.mailed.app.call('GET', `/proxy/${path}`, {
        key,
        headers: { 'SVC-PROXY-KEY': proxyKey },
      });
      assert.equal(called.status, status, called.text);
    }
    await ann.page.reload();
    const tile = (title: string) => ann.page.getByRole('term').filter({ hasText: title }).locator('..').textContent();
    await ann.reads('The destination could not be reached');
    assert.deepEqual([await tile('Calls'), await tile('Errors')], ['Calls3', 'Errors133.3%']);
    const days = ann.page.getByRole('table', { name: 'Calls by day' }).locator('tbody tr');
    assert.match((await days.last().textContent()) ?? '', /21$/, 'two succeeded, one failed');
    const failures = ann.page.getByRole('table', { name: 'Failures of 30 days' }).locator('tbody tr');
    assert.match((await failures.allTextContents()).join(), /^destination_failed[^,]*\D1$/);
  });

  it('replaces the key behind a confirmation; the one before names nothing any more', async () => {
    const id = await make('/proxies', { name: 'Renewed', destination_url: DESTINATION, require_auth: false });
    const { key: before } = await get(id);
    await ann.open(`proxies/${id}?tab=address`);
    await ann.reads(before);
    await ann.click('Make a new key');
    await ann.click('Cancel');
    assert.equal((await get(id)).key, before);
    await ann.click('Make a new key');
    await ann.click('Replace the key');
    await ann.reads('The Proxy has a new key.');
    const { key: now } = await get(id);
    assert.notEqual(now, before);
    await ann.reads(now);
    assert.equal(await ann.page.getByText(before).count(), 0);
    const apiKey = await portal.mailed.app.makeKey(portal.tenant.id, 'private', ['token:use']);
    const called = await portal.mailed.app.call('GET', '/proxy/x', {
      key: apiKey,
      headers: { 'SVC-PROXY-KEY': before },
    });
    assert.equal(called.status, 404);
  });

  it('deletes one whose name was typed', async () => {
    const id = await make('/proxies', { name: 'Doomed', destination_url: DESTINATION });
    await ann.open(`proxies/${id}?tab=address`);
    await ann.click('Delete');
    assert.ok(await ann.page.getByRole('button', { name: 'Delete the Proxy' }).isDisabled());
    await ann.fill('Type Doomed to go on', 'Doomed');
    await ann.click('Delete the Proxy');
    await ann.reads('The Proxy is deleted.');
    assert.equal((await call('GET', `/proxies/${id}`)).status, 404);
  });

  it('shows hostile texts as texts, and READ_ONLY members neither keys nor settings nor buttons', async () => {
    const id = await make('/proxies', {
      ...{ name: HOSTILE, destination_url: DESTINATION, configuration: { A: 'never shown' } },
      request_transform: { code: `// </script>${HOSTILE}` },
    });
    const { key } = await get(id);
    await ann.open(`proxies?name=${encodeURIComponent(HOSTILE)}`);
    await ann.page.getByRole('link', { name: HOSTILE }).click();
    await heading(ann, HOSTILE);
    await ann.page.getByRole('textbox', { name: 'Code for requests' }).getByText(HOSTILE).first().waitFor();
    await assertNothingRan(ann);
    const ben = await portal.visit('READ_ONLY');
    const answers: Promise<string>[] = [];
    ben.page.on('response', (response) => {
      if (response.url().includes('/proxies')) answers.push(response.text().catch(() => ''));
    });
    for (const tab of ['definition', 'address', 'versions', 'figures']) {
      await ben.open(`proxies/${id}?tab=${tab}`);
      await heading(ben, HOSTILE);
      await ben.page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      for (const name of [/^Save/, /^Show /, /^Restore/, /^Delete/, /^Make/, /^Add/, /^Remove/])
        assert.equal(await ben.page.locator('main').getByRole('button', { name }).count(), 0, `${tab}: ${name}`);
    }
    await ben.open(`proxies/${id}?tab=address`);
    await ben.reads('The key is hidden from members who can only read.');
    const seen = (await Promise.all(answers)).join('');
    assert.ok(!seen.includes('never shown') && !seen.includes(key));
    await ben.leave();
  });

  it('offers Applications beyond the first hundred', async () => {
    const { app } = portal.mailed;
    const { id } = await app.makeTenant('Many Applications');
    const made = await Promise.all(
      Array.from({ length: 101 }, () => app.makeApplication(id, 'private', ['token:use'])),
    );
    const eve = await portal.visit('ADMIN', id);
    await eve.open('proxies/new');
    const choice = eve.page.getByLabel('Application', { exact: true });
    for (const one of made) await choice.locator(`option[value="${one.id}"]`).waitFor({ state: 'attached' });
    await eve.leave();
  });
});
