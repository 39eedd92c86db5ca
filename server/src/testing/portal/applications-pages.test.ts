// needs: chromium

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { PASSWORD } from '../../resources/portal/portal-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const HOSTILE = `<img src=x onerror=alert(1)>"'; touch /tmp/x $(id) \`id\` \\ #`;
const KEY = /key_(?:pub|pvt|mgt)_[0-9A-Za-z]{32}/;

describe('the pages of Applications', () => {
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

  const call = (method: string, path: string, body?: unknown, key = portal.tenant.key) =>
    portal.mailed.app.call(method, path, { key, ...(body !== undefined && { body }) });
  const heading = (name: string) => ann.page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
  const group = (name: string) => ann.page.getByRole('group', { name, exact: true });
  const row = (name: string) => ann.page.getByRole('row').filter({ hasText: name });
  /** The Application of this name; undefined where there is none. */
  async function named(name: string) {
    const { json } = await call('GET', '/applications?size=100');
    return json.data.find((each: { readonly name: string }) => each.name === name);
  }
  async function make(body: object) {
    const { status, json, text } = await call('POST', '/applications', { type: 'private', ...body });
    assert.equal(status, 201, text);
    return json;
  }
  async function shownKey(): Promise<string> {
    const dialog = ann.page.getByRole('dialog');
    await dialog.getByText(KEY).waitFor();
    return KEY.exec(await dialog.innerText())?.[0] ?? assert.fail('a key');
  }

  it('lists them with type, rights, last use and next end, and keeps the filter in the address', async () => {
    const { key } = await make({
      name: 'Listed backend',
      permissions: ['token:read', 'token:use'],
      expires_at: '2090-05-05',
    });
    await make({
      name: 'Listed page',
      type: 'public',
      rules: [{ priority: 1, container: '/pci/', permissions: ['token:create'] }],
    });
    await call('GET', '/applications/key', undefined, key);
    await ann.open('applications');
    await row('Listed backend').getByText('Tokens: read, use').waitFor();
    await row('Listed backend').getByText('May 5, 2090').waitFor();
    await row('Listed page').getByText('Rule for /pci/').waitFor();
    await row('Listed page').getByText('Never used').waitFor();
    await ann.page.getByLabel('Type', { exact: true }).selectOption('public');
    await row('Listed backend').waitFor({ state: 'detached' });
    assert.match(ann.page.url(), /\?type=public$/);
    await ann.page.reload();
    await row('Listed page').waitFor();
    assert.equal(await row('Listed backend').count(), 0);
  });

  it('pages through them, and the address says where', async () => {
    const names = Array.from({ length: 22 }, (_, at) => `Of many ${at}`);
    for (const name of names) await make({ name, type: 'management', permissions: ['log:read'] });
    await ann.open('applications?type=management');
    await ann.reads(/page 1 of 2/);
    await ann.click('Next');
    await ann.reads(/page 2 of 2/);
    assert.match(ann.page.url(), /page=2/);
    await ann.page.goBack();
    await ann.reads(/page 1 of 2/);
    await ann.open('applications?type=management&page=99');
    await ann.reads('No Application here');
    await ann.click('Show all');
    await ann.reads(/page 1 of/);
  });

  it('creates one: type, permissions, a rule with its preview, and a key that works and is shown once', async () => {
    const ingest = await make({ name: 'For the preview', permissions: ['token:create'] });
    await call('POST', '/tokens', { type: 'card', data: { number: '4242424242424242' } }, ingest.key);
    await ann.open('applications/new');
    await heading('New application');
    assert.equal(await ann.page.getByLabel('Name', { exact: true }).count(), 0, 'the type comes first');
    await ann.page.getByRole('radio', { name: /^Private/ }).check();
    await ann.fill('Name', 'Made here');
    await group('Tokens').getByLabel('token:read').check();
    const seen = ann.page.getByRole('region', { name: '/pci/high/' });
    await seen.getByText('Reads masked data').waitFor();
    await ann.click('Add a rule');
    await group('Rule 1').getByLabel('Container').fill('/pci/');
    await group('Rule 1').getByLabel('What it shows').selectOption('reveal');
    await ann.reads('One rule is left out');
    await group('Rule 1').getByLabel('token:read').check();
    await seen.getByText('Reads plain data').waitFor();
    const curl = await ann.page.locator('figure', { hasText: 'The same by the API' }).locator('pre').innerText();
    assert.match(curl, /\$STRONGROOM_KEY/);
    assert.doesNotMatch(curl, KEY);
    await ann.click('Create application');
    const key = await shownKey();
    const { json } = await call('GET', '/applications/key', undefined, key);
    assert.deepEqual([json.name, json.type, json.permissions], ['Made here', 'private', ['token:read']]);
    assert.deepEqual(
      json.rules.map(({ container, transform, permissions }: Record<string, unknown>) => [
        container,
        transform,
        permissions,
      ]),
      [['/pci/', 'reveal', ['token:read']]],
    );
    const { json: card } = await call('GET', '/tokens?type=card', undefined, key);
    assert.equal(card.data[0].data.number, '4242424242424242', 'as the preview said');
    await ann.click('I have stored it');
    await heading('Made here');
    assert.doesNotMatch(await ann.page.content(), KEY);
  });

  it('does not close the key by accident: not by Escape, a click beside it, the way back or a shortcut', async () => {
    await ann.open('applications');
    await ann.page.getByRole('link', { name: 'New application' }).click();
    await ann.page.getByRole('radio', { name: /^Management/ }).check();
    await ann.fill('Name', 'Held');
    await group('Logs').getByLabel('log:read').check();
    await ann.click('Create application');
    const key = await shownKey();
    await ann.page.keyboard.press('Escape');
    await ann.page.mouse.click(5, 5);
    await ann.page.keyboard.press('g');
    await ann.page.keyboard.press('t');
    await ann.page.evaluate('history.back()');
    await ann.page.waitForURL(/\/applications\/new\?/);
    const asked = ann.page.waitForEvent('dialog');
    await ann.page.evaluate(`setTimeout(() => { location.href = '/portal/sign-in'; })`);
    await (await asked).dismiss(); // The browser asks before it goes.
    assert.equal(await shownKey(), key);
    const kept = await ann.page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])');
    assert.doesNotMatch(String(kept), KEY);
    await ann.click('I have stored it');
    await heading('Held');
  });

  it('shows what a type cannot hold with the reason, and takes it out when the type changes', async () => {
    await ann.open('applications/new?type=private');
    await group('Tokens').getByLabel('token:read').check();
    await group('Tokens').getByLabel('token:create').check();
    await ann.page.getByRole('radio', { name: /^Public/ }).check();
    await ann.reads('Taken out, because this type cannot hold it: token:read.');
    const read = group('Tokens').getByLabel('token:read');
    assert.deepEqual([await read.isDisabled(), await read.isChecked()], [true, false]);
    assert.equal(await group('Tokens').getByLabel('token:create').isChecked(), true);
    await ann.reads('Read tokens. Only private Applications can hold it.');
    await ann.page.getByText('What a public Application cannot hold').click();
    assert.equal(await group('Logs').getByLabel('log:read').isDisabled(), true);
    await ann.page.getByRole('radio', { name: /^Management/ }).check();
    await ann.reads('Rules are about tokens, so a management Application has none.');
    assert.match(ann.page.url(), /\?type=management$/);
  });

  it('tells what is wrong at its field, and creates nothing', async () => {
    const before = (await call('GET', '/applications')).json.pagination.total_items;
    await ann.open('applications/new?type=private');
    await ann.click('Add a rule');
    await group('Rule 1').getByLabel('Container').fill('pci');
    await ann.page.getByLabel(/^Ends at/).fill('2001-01-01T10:00');
    await ann.click('Create application');
    await ann.page.locator('input[aria-invalid=true]').waitFor();
    assert.equal(await ann.page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid'), 'true');
    await ann.fill('Name', 'Wrong');
    await ann.click('Create application');
    await group('Rule 1').getByText('must name at least one permission').waitFor();
    await group('Rule 1')
      .getByText(/must be a path such as/)
      .waitFor();
    await ann.reads('must be in the future');
    assert.equal(await group('Rule 1').getByLabel('Container').getAttribute('aria-invalid'), 'true');
    assert.equal((await call('GET', '/applications')).json.pagination.total_items, before);
  });

  it('opens prefilled by a link, says so, and leaves out what cannot be', async () => {
    await ann.open('applications/new?type=public&name=From+a+link&permissions=token:create,token:read,nonsense');
    await ann.reads('A link filled in this form');
    await ann.reads('token:read, nonsense');
    assert.equal(await ann.page.getByLabel('Name', { exact: true }).inputValue(), 'From a link');
    assert.equal(await group('Tokens').getByLabel('token:create').isChecked(), true);
    assert.equal(await named('From a link'), undefined, 'nothing is created by opening it');
    await ann.open('applications/new?template=Use%20PCI%20Tokens');
    assert.equal(await group('Rule 1').getByLabel('Container').inputValue(), '/pci/');
    assert.equal(await ann.page.getByRole('radio', { name: /^Private/ }).isChecked(), true);
  });

  it('starts from a template, and adds, moves and removes rules', async () => {
    await ann.open('applications/new?type=public');
    await ann.click(/^Collect PCI Data/);
    await ann.fill('Name', 'Ordered');
    for (const [at, container] of [
      [2, '/pii/'],
      [3, '/bank/'],
    ] as const) {
      await ann.click('Add a rule');
      await group(`Rule ${at}`).getByLabel('Container').fill(container);
      await group(`Rule ${at}`).getByLabel('token:create').check();
    }
    await ann.click('Move rule 3 up');
    await ann.click('Remove rule 1');
    await group('Rule 2').getByLabel('Priority').fill('1');
    await group('Rule 2').getByLabel('Priority').blur();
    await ann.click('Create application');
    await shownKey();
    await ann.click('I have stored it');
    await heading('Ordered');
    const { rules } = await named('Ordered');
    assert.deepEqual(
      rules.map(({ priority, container }: Record<string, unknown>) => [priority, container]),
      [
        [1, '/pii/'],
        [2, '/bank/'],
      ],
    );
  });

  it('creates one, and sends one request, for a double click', async () => {
    await ann.open('applications/new?type=management&name=Clicked+twice&permissions=log:read');
    const sent: string[] = [];
    ann.page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await ann.page.getByRole('button', { name: 'Create application' }).dblclick();
    await shownKey();
    assert.equal(sent.filter((url) => url.endsWith('/applications')).length, 1);
    await ann.click('I have stored it');
    await heading('Clicked twice');
  });

  it('asks before what is typed is lost', async () => {
    await ann.open('applications/new?type=management');
    await ann.fill('Name', 'Typed');
    await ann.page.getByRole('link', { name: 'Members' }).click();
    await ann.reads('Leave without saving?');
    await ann.click('Cancel');
    assert.equal(await ann.page.getByLabel('Name', { exact: true }).inputValue(), 'Typed');
    await ann.page.getByRole('link', { name: 'Members' }).click();
    await ann.click('Leave without saving');
    await heading('Members');
  });

  it('does not undo what somebody else saved meanwhile, unless told to', async () => {
    const { id } = await make({ name: 'Shared', permissions: ['token:read', 'token:search'] });
    await ann.open(`applications/${id}/edit`);
    await ann.fill('Name', 'Mine');
    await portal.mailed.pass(1_000);
    const theirs = { name: 'Shared', permissions: ['token:read'], rules: [] };
    assert.equal((await call('PUT', `/applications/${id}`, theirs)).status, 200);
    await ann.click('Save');
    await ann.reads('It was changed meanwhile');
    assert.deepEqual((await named('Shared')).permissions, ['token:read']);
    await ann.click('Show what is stored now');
    assert.equal(await group('Tokens').getByLabel('token:search').isChecked(), false);
    await ann.fill('Name', 'Mine after theirs');
    await ann.click('Save');
    await heading('Mine after theirs');
    assert.deepEqual((await named('Mine after theirs')).permissions, ['token:read']);
  });

  it('asks who it is when the sign-in is old, and then creates', async () => {
    await portal.mailed.pass(11 * 60_000);
    await ann.open('applications/new?type=management&name=Stepped+up&permissions=log:read');
    await ann.click('Create application');
    await ann.reads('Is it you?');
    assert.equal(await named('Stepped up'), undefined);
    await ann.fill('Password', PASSWORD);
    await ann.click('Go on');
    await shownKey();
    await ann.click('I have stored it');
    await heading('Stepped up');
  });

  it('changes name, rights and rules, and they hold at once', async () => {
    const { id, key } = await make({
      name: 'Before',
      permissions: ['token:read', 'token:search'],
      rules: [{ priority: 5, container: '/pci/', transform: 'reveal', permissions: ['token:read'] }],
    });
    await ann.open(`applications/${id}`);
    await ann.page.getByRole('link', { name: 'Edit' }).click();
    await heading('Edit Before');
    await ann.fill('Name', 'After');
    await group('Tokens').getByLabel('token:search').uncheck();
    await group('Rule 1').getByLabel('What it shows').selectOption('redact');
    await ann.click('Save');
    await heading('After');
    await row('/pci/').getByText('No data').waitFor();
    const { json } = await call('GET', '/applications/key', undefined, key);
    assert.deepEqual([json.name, json.permissions, json.rules[0].transform], ['After', ['token:read'], 'redact']);
    assert.equal((await call('POST', '/tokens/search', {}, key)).status, 403);
  });

  it('deletes one when its name is typed; its keys end, and its address says that it is gone', async () => {
    const { id, key } = await make({ name: 'Doomed', permissions: ['token:read'] });
    await ann.open(`applications/${id}`);
    await ann.click('Delete');
    const act = ann.page.getByRole('button', { name: 'Delete the application' });
    assert.equal(await act.isDisabled(), true);
    await ann.fill('Type Doomed to go on', 'Doomed');
    await act.click();
    await heading('Applications');
    assert.equal((await call('GET', `/applications/${id}`)).status, 404);
    assert.equal((await call('GET', '/applications/key', undefined, key)).status, 401);
    await ann.open(`applications/${id}`);
    await ann.reads('There is no such Application');
  });

  it('shows what tenants write as text, and its shell line is one command whatever the name is', async () => {
    const { id } = await make({
      name: HOSTILE,
      rules: [{ priority: 1, container: '/', description: HOSTILE, permissions: ['token:read'] }],
    });
    for (const path of ['applications', `applications/${id}?tab=rights`, `applications/${id}/edit`]) {
      await ann.open(path);
      await ann.page.getByText(HOSTILE, { exact: false }).first().waitFor();
    }
    await ann.open(`applications/new?type=private&permissions=token:read&name=${encodeURIComponent(HOSTILE)}`);
    const line = await ann.page.locator('figure', { hasText: 'The same by the API' }).locator('pre').textContent();
    const words = execFileSync('sh', ['-c', String(line).replace(/^curl/, `printf '%s\\0'`)], {
      env: { STRONGROOM_KEY: 'from the environment' },
      encoding: 'utf8',
    }).split('\0');
    assert.ok(words.includes('SVC-API-KEY: from the environment'));
    assert.deepEqual(JSON.parse(words[words.indexOf('-d') + 1] ?? ''), {
      ...{ name: HOSTILE, type: 'private', permissions: ['token:read'] },
    });
  });

  it('fits into 390, 768 and 1280 px, however long the names are', async () => {
    const name = 'x'.repeat(200);
    const container = `/${'y'.repeat(198)}/`;
    const { id, key } = await make({
      ...{ name, permissions: ['token:create', 'token:read'] },
      rules: [{ priority: 1, container, description: name, permissions: ['token:read'] }],
    });
    const token = await call(
      'POST',
      '/tokens',
      { id: 'z'.repeat(400), data: 1, containers: [container], metadata: { [name]: name } },
      key,
    );
    assert.equal(token.status, 201, token.text);
    const pages: readonly (readonly [string, string])[] = [
      ['applications', name],
      [`applications/${id}`, 'A key is shown once'],
      [`applications/${id}?tab=rights`, container],
      [`applications/${id}?tab=access`, container],
      [`applications/${id}/edit`, 'Reads masked data'],
      [`applications/new?type=private&name=${name}`, 'The same by the API'],
      ['tokens?show=newest', container],
      [`tokens/${token.json.id}`, 'Token retrieved'],
    ];
    for (const [path, text] of pages) {
      await ann.open(path);
      await ann.reads(text);
      for (const width of [390, 768, 1280]) {
        await ann.page.setViewportSize({ width, height: 800 });
        const wide = (await ann.page.evaluate('document.documentElement.scrollWidth')) as number;
        assert.ok(wide <= width, `${path} is ${wide} px wide at ${width}`);
      }
    }
  });

  it('shows a Reader everything, says why nothing can be changed, and offers no button for it', async () => {
    const { id } = await make({ name: 'Looked at', permissions: ['token:read'] });
    const reader = await portal.visit('READ_ONLY');
    await reader.open(`applications/${id}`);
    await reader.reads(/You are a Reader of this tenant/);
    await reader.page.getByRole('table', { name: 'Keys' }).waitFor();
    for (const name of ['Rotate', 'Add a key', 'Delete', /^Revoke/]) {
      assert.equal(await reader.page.getByRole('button', { name }).count(), 0, String(name));
    }
    await reader.page.getByRole('tab', { name: 'Who sees what' }).click();
    await reader.page.getByRole('region', { name: '/pci/high/' }).getByText('Reads masked data').waitFor();
    await reader.open('applications');
    await reader.page.getByRole('link', { name: 'Looked at' }).waitFor();
    assert.equal(await reader.page.getByRole('link', { name: 'New application' }).count(), 0);
    await reader.open('applications/new?type=private');
    await reader.reads('You cannot create Applications here');
    await reader.open(`applications/${id}/edit`);
    await reader.reads(/You are a Reader of this tenant/);
    assert.equal(await reader.page.getByRole('button', { name: 'Save' }).count(), 0);
    await reader.leave();
  });
});
