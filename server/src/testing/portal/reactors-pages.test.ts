// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { PASSWORD } from '../../resources/portal/portal-fixture.js';
import { eventually } from '../eventually.js';
import { assertNothingRan, definitionTests, HOSTILE } from './definition-pages-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const STEP_UP_MS = 11 * 60_000;
const ECHO = 'module.exports = async ({ args }) => ({ raw: args });';
/** Keys in files have lines. */
const PEM = '-----BEGIN KEY-----\nabc\n-----END KEY-----';

describe('the pages of Reactors', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  const { call, make, heading, write } = definitionTests(() => portal);
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit();
  });
  afterEach(() => ann.leave());

  const get = async (id: string) => (await call('GET', `/reactors/${id}`)).json;

  it('makes the first one, with settings and an Application; its secret is shown once and closes by its button alone', async () => {
    const { id: applicationId } = await portal.mailed.app.makeApplication(portal.tenant.id, 'private', ['token:use']);
    await ann.open('reactors');
    await ann.reads('There are no Reactors yet');
    await ann.page.getByRole('link', { name: 'New Reactor' }).first().click();
    await heading(ann, 'New Reactor');
    await ann.fill('Name', 'Charge a card');
    await write(ann, 'Code', ECHO);
    await ann.page.getByLabel('Application', { exact: true }).selectOption(applicationId);
    await ann.click('Add a value');
    await ann.fill('Name of the value', 'PROVIDER_KEY');
    await ann.fill('New value', PEM);
    await ann.click('Create the Reactor');
    const dialog = ann.page.getByRole('dialog', { name: 'The callback secret' });
    const secret = (await dialog.locator('pre').textContent()) ?? '';
    assert.match(secret, /^rcs_/);
    for (const key of ['Escape', 'g', 'o']) await ann.page.keyboard.press(key);
    await ann.page.goBack();
    await dialog.waitFor();
    await ann.click('I have stored it');
    await heading(ann, 'Charge a card');
    const [, id = ''] = /reactors\/([0-9a-f-]{36})$/.exec(ann.page.url()) ?? [];
    const made = await get(id);
    assert.deepEqual(
      [made.name, made.code, made.configuration, made.application.id],
      ['Charge a card', ECHO, { PROVIDER_KEY: PEM }, applicationId],
    );
    const kept = String(await ann.page.evaluate('document.body.innerText + JSON.stringify({ ...localStorage })'));
    assert.ok(!kept.includes(secret) && !kept.includes('BEGIN KEY'));
  });

  it('tells at its field what is wrong, and makes nothing', async () => {
    const { json: before } = await call('GET', '/reactors');
    await ann.open('reactors/new');
    await write(ann, 'Code', '');
    await ann.click('Add a value');
    await ann.fill('Name of the value', HOSTILE);
    await ann.fill('New value', 'x');
    await ann.click('Create the Reactor');
    await ann.reads('Configuration must have keys of 1 to 200 letters, digits, underscores and hyphens');
    const name = ann.page.getByLabel('Name', { exact: true });
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    const told = await name.getAttribute('aria-describedby');
    assert.equal(await ann.page.locator(`[id="${told}"]`).textContent(), 'must not be empty');
    const code = ann.page.getByRole('textbox', { name: 'Code', exact: true });
    assert.deepEqual(
      [await code.getAttribute('aria-invalid'), await code.getAttribute('aria-description')],
      ['true', 'must not be empty'],
    );
    await ann.click('Add a value');
    await ann.page.getByLabel('Name of the value').first().fill('TWICE');
    await ann.page.getByLabel('Name of the value').last().fill('TWICE');
    await ann.reads('Configuration has TWICE twice');
    assert.ok(await ann.page.getByRole('button', { name: 'Create the Reactor' }).isDisabled());
    assert.equal((await call('GET', '/reactors')).json.pagination.total_items, before.pagination.total_items);
  });

  it('saves what was changed and nothing else: settings that were not shown stay, with the ends of their lines', async () => {
    const configuration = { PEM, URL: 'https://a.example', OLD: 'goes' };
    const id = await make('/reactors', { name: 'Edited', code: ECHO, configuration });
    await ann.open(`reactors/${id}`);
    assert.ok(!String(await ann.page.locator('main').innerText()).includes('https://a.example'));
    await write(ann, 'Code', `${ECHO}\n// changed`);
    await ann.click('Show URL');
    await ann.fill('Value of URL', 'https://b.example');
    await ann.click('Remove OLD');
    await call('PATCH', `/reactors/${id}`, { name: 'Renamed meanwhile' });
    await ann.click('Save');
    await ann.reads('Saved. The next call uses it; the version before is kept.');
    const saved = await get(id);
    assert.deepEqual(
      [saved.name, saved.code, saved.configuration],
      ['Renamed meanwhile', `${ECHO}\n// changed`, { PEM, URL: 'https://b.example' }],
    );
    await ann.reads('Everything is saved');
    await heading(ann, 'Renamed meanwhile');
  });

  it('asks before changes are lost, keeps them from tab to tab, and lets a keyboard out of the editor', async () => {
    const id = await make('/reactors', { name: 'Draft', code: ECHO });
    await ann.open(`reactors/${id}`);
    const code = ann.page.getByRole('textbox', { name: 'Code', exact: true });
    // An editor takes up what was typed in its own time.
    const holds = (text: RegExp) =>
      eventually(`the editor holds ${text}`, async () => text.test((await code.textContent()) ?? ''));
    await code.fill(`// some\n${ECHO}\nreturn 'lines';`);
    await holds(/'lines'/);
    await code.fill('// a draft');
    await holds(/^\/\/ a draft$/);
    await ann.page.keyboard.press('Tab');
    await holds(/^ {2}\/\/ a draft$/);
    await ann.page.keyboard.press('Escape');
    await ann.page.keyboard.press('Tab');
    await ann.page.waitForFunction('document.activeElement?.textContent === "Add a value"');
    await ann.page.getByRole('tab', { name: 'Versions' }).click();
    await ann.reads('There is no version before this one');
    await ann.page.getByRole('tab', { name: 'Code' }).click();
    await holds(/^ {2}\/\/ a draft$/);
    await ann.page.getByRole('link', { name: 'Members' }).click();
    await ann.reads('Leave without saving?');
    await ann.click('Cancel');
    await ann.click('Discard');
    await eventually('what is stored is back', async () => (await code.textContent()) === ECHO);
    await ann.page.getByRole('link', { name: 'Members' }).click();
    await heading(ann, 'Members');
    assert.equal((await get(id)).code, ECHO);
  });

  it('compares versions by signs, in the address, and restores one', async () => {
    const id = await make('/reactors', { name: 'Versions', code: 'one\nsame\ntwo' });
    for (const code of ['one\nsame\nthree', 'four\nsame\nthree'])
      assert.equal((await call('PATCH', `/reactors/${id}`, { code })).status, 204);
    await ann.open(`reactors/${id}?tab=versions`);
    await ann.page.getByRole('button', { name: /^Version 1/ }).click();
    const rows = ann.page
      .getByRole('table', { name: 'Code: from version 1 to what is stored now' })
      .locator('tbody tr');
    const shown = async () =>
      (await rows.allTextContents()).map((text) => text.replace(/(added|removed)/, ' $1 ').trim());
    assert.deepEqual(await shown(), ['1− removed one', '1+ added four', '22same', '3− removed two', '3+ added three']);
    await ann.page.getByLabel('Compare with').selectOption('2');
    await ann.page.getByRole('table', { name: 'Code: from version 1 to version 2' }).waitFor();
    await ann.page.reload();
    await ann.page.getByRole('table', { name: 'Code: from version 1 to version 2' }).waitFor();
    await ann.click('Restore');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await ann.reads('Version 1 is in use again.');
    assert.equal((await get(id)).code, 'one\nsame\ntwo');
    assert.equal((await call('GET', `/reactors/${id}/versions`)).json.length, 3);
  });

  it('says that it was changed meanwhile, and saves over that no more than what was changed here', async () => {
    const id = await make('/reactors', { name: 'First name', code: ECHO, configuration: { A: 'first' } });
    await call('PATCH', `/reactors/${id}`, { name: 'Second name', configuration: { A: 'second', B: 'new' } });
    await ann.open(`reactors/${id}`);
    await write(ann, 'Code', '// mine');
    await portal.mailed.pass(1);
    await ann.page.getByRole('tab', { name: 'Versions' }).click();
    await ann.click('Restore');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await heading(ann, 'First name');
    await ann.page.getByRole('tab', { name: 'Code' }).click();
    await ann.reads('It was changed meanwhile');
    await ann.click('Save');
    await ann.reads('Everything is saved');
    const saved = await get(id);
    assert.deepEqual([saved.name, saved.code, saved.configuration], ['First name', '// mine', { A: 'first' }]);
  });

  it('shows the figures of 30 days, also to who reads instead of looking', async () => {
    const id = await make('/reactors', { name: 'Counted', code: ECHO });
    await ann.open(`reactors/${id}?tab=figures`);
    await ann.reads('No calls in the last 30 days');
    await ann.reads(`/reactors/${id}/react`);
    const today = new Date(portal.mailed.clock.nowMs()).toISOString().slice(0, 10);
    for (const [figure, count] of [
      ['calls', 1_234],
      ['error:timeout', 7],
      ['cold', 5],
    ])
      await portal.mailed.app.db.owner.query(
        'INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count) VALUES ($1, $2, $3, $4, $5)',
        [portal.tenant.id, id, today, figure, count],
      );
    await ann.page.reload();
    await ann.reads('The code took longer than it may');
    const days = ann.page.getByRole('table', { name: 'Calls by day' }).locator('tbody tr');
    assert.equal(await days.count(), 30);
    assert.match((await days.last().textContent()) ?? '', /1,2277$/);
  });

  it('hides settings from a sign-in that is old, and shows them after a fresh one', async () => {
    const id = await make('/reactors', { name: 'Kept', code: ECHO, configuration: { KEY: 'hush' } });
    await ann.open(`reactors/${id}`);
    await heading(ann, 'Kept');
    assert.equal(await ann.page.getByText('Secrets are hidden').count(), 0);
    await portal.mailed.pass(11 * 60_000);
    const [answer] = await Promise.all([
      ann.page.waitForResponse(
        (response) => response.url().endsWith(`/reactors/${id}`) && !response.url().includes('portal'),
      ),
      ann.page.reload(),
    ]);
    assert.deepEqual((await answer.json()).configuration, { KEY: '••••' });
    await ann.click('Show them');
    await ann.fill('Password', PASSWORD);
    await ann.click('Go on');
    await ann.page.getByText('Secrets are hidden').waitFor({ state: 'detached' });
    const { json } = await call('GET', `/reactors/${id}`);
    assert.deepEqual(json.configuration, { KEY: 'hush' });
  });

  it('narrows the list and turns its pages in the address', async () => {
    for (let n = 10; n < 22; n += 1) await make('/reactors', { name: `Paged ${n}`, code: ECHO });
    await ann.open('reactors');
    await ann.fill('Search by name', 'Paged*');
    await ann.click('Search');
    await ann.reads('12 Reactors, page 1 of 2');
    await ann.click('Next');
    await ann.reads('12 Reactors, page 2 of 2');
    assert.match(ann.page.url(), /name=Paged\*&page=2$/);
    await ann.page.reload();
    await ann.reads('12 Reactors, page 2 of 2');
    assert.equal(await ann.page.getByRole('link', { name: /^Paged/ }).count(), 2);
    await ann.fill('Search by name', HOSTILE);
    await ann.click('Search');
    await ann.reads('No Reactor has that name');
    await assertNothingRan(ann);
  });

  it('makes a new callback secret behind a confirmation and a fresh sign-in', async () => {
    const id = await make('/reactors', { name: 'Signs', code: ECHO });
    await ann.open(`reactors/${id}?tab=settings`);
    await ann.reads('Callback secret');
    await portal.mailed.pass(STEP_UP_MS);
    await ann.click('Make a new one');
    await ann.click('Make a new secret');
    await ann.reads('This takes a sign-in of the last ten minutes.');
    assert.equal((await get(id)).modified_at, undefined);
    await ann.fill('Password', PASSWORD);
    await ann.click('Go on');
    const dialog = ann.page.getByRole('dialog', { name: 'The new callback secret' });
    const secret = (await dialog.locator('pre').textContent()) ?? '';
    assert.match(secret, /^rcs_/);
    await ann.click('I have stored it');
    assert.ok(!(await ann.page.content()).includes(secret) && !ann.page.url().includes(secret));
    assert.equal(typeof (await get(id)).modified_at, 'string');
  });

  it('deletes one whose name was typed, and goes back to the list', async () => {
    const id = await make('/reactors', { name: 'Doomed', code: ECHO });
    await ann.open(`reactors/${id}?tab=settings`);
    await ann.click('Delete');
    const act = ann.page.getByRole('button', { name: 'Delete the Reactor' });
    await ann.fill('Type Doomed to go on', 'Doome');
    assert.ok(await act.isDisabled());
    await ann.fill('Type Doomed to go on', 'Doomed');
    await act.click();
    await ann.reads('The Reactor is deleted.');
    await heading(ann, 'Reactors');
    assert.equal((await call('GET', `/reactors/${id}`)).status, 404);
  });

  it('shows hostile texts as texts, wherever a tenant can write them', async () => {
    const application = await call('POST', '/applications', {
      name: HOSTILE,
      type: 'private',
      permissions: ['token:use'],
    });
    const code = `// ${HOSTILE}\n${ECHO}`;
    const id = await make('/reactors', {
      ...{ name: HOSTILE, code, configuration: { A: HOSTILE }, application: { id: application.json.id } },
    });
    await call('PATCH', `/reactors/${id}`, { code: `${code}\n// </script>${HOSTILE}` });
    await ann.open(`reactors?name=${encodeURIComponent(HOSTILE)}`);
    const row = ann.page.getByRole('row', { name: HOSTILE });
    assert.ok(
      (await row.textContent())?.includes(`${HOSTILE}${'Application'}${HOSTILE}`),
      (await row.textContent()) ?? '',
    );
    await row.getByRole('link').click();
    await heading(ann, HOSTILE);
    assert.ok((await ann.page.title()).startsWith(HOSTILE));
    await ann.click('Show A');
    assert.equal(await ann.page.getByLabel('Value of A').inputValue(), HOSTILE);
    await ann.page.getByRole('textbox', { name: 'Code', exact: true }).getByText(`// ${HOSTILE}`).first().waitFor();
    await assertNothingRan(ann);
    await ann.open(
      `reactors/${id}?tab=versions&version=${encodeURIComponent(HOSTILE)}&with=${encodeURIComponent(HOSTILE)}`,
    );
    await ann.page.getByRole('table', { name: /^Code/ }).getByText(`// </script>${HOSTILE}`).waitFor();
    await ann.open(`reactors/${id}?tab=${encodeURIComponent(HOSTILE)}`);
    await ann.page.getByRole('textbox', { name: 'Code', exact: true }).waitFor();
    await assertNothingRan(ann);
  });

  it('shows READ_ONLY members the code, dots for settings, and no button that would be refused', async () => {
    const id = await make('/reactors', { name: 'Looked at', code: ECHO, configuration: { SECRET: 'never shown' } });
    await call('PATCH', `/reactors/${id}`, { code: `${ECHO} ` });
    const ben = await portal.visit('READ_ONLY');
    const answers: Promise<string>[] = [];
    ben.page.on('response', (response) => {
      if (response.url().includes('/reactors')) answers.push(response.text().catch(() => ''));
    });
    await ben.open(`reactors/${id}`);
    await ben.reads(/You are a Reader of this tenant/);
    await ben.reads('SECRET');
    const code = ben.page.getByRole('textbox', { name: 'Code', exact: true });
    assert.equal(await code.getAttribute('aria-readonly'), 'true');
    await code.click();
    await ben.page.keyboard.type('x');
    assert.equal(await code.textContent(), `${ECHO} `);
    for (const tab of ['code', 'versions', 'figures', 'requests', 'settings']) {
      await ben.open(`reactors/${id}?tab=${tab}`);
      await heading(ben, 'Looked at');
      await ben.page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      for (const name of [/^Save/, /^Run/, /^Restore/, /^Delete/, /^Make/, /^Show /, /^Add/, /^Remove/])
        assert.equal(await ben.page.locator('main').getByRole('button', { name }).count(), 0, `${tab}: ${name}`);
    }
    await ben.open('reactors/new');
    await ben.reads(/You are a Reader of this tenant/);
    assert.ok(!(await Promise.all(answers)).join('').includes('never shown'));
    await ben.leave();
  });

  it('knows no Reactor of another tenant', async () => {
    const other = await portal.mailed.app.makeTenant('Others');
    const made = await portal.mailed.app.call('POST', '/reactors', {
      key: other.key,
      body: { name: 'Not ours', code: ECHO },
    });
    await ann.open(`reactors/${made.json.id}`);
    await ann.reads(/There is no such Reactor|no Reactor/i);
    assert.equal(await ann.page.getByText('Not ours').count(), 0);
  });
});

describe('the pages of Reactors where no code runs', () => {
  it('say so, why, and what to do; editing still works', async (t) => {
    const portal = await startPortalOfTenant({ STRONGROOM_REACTORS: 'off' });
    t.after(() => portal.close());
    const ann = await portal.visit();
    await ann.open('reactors/new');
    await ann.click('Run');
    await ann.reads('No code runs on this server');
    await ann.reads('STRONGROOM_REACTORS is off.');
    await ann.reads('strongroom doctor');
    await ann.fill('Name', 'For later');
    await ann.click('Create the Reactor');
    await ann.click('I have stored it');
    await ann.page.getByRole('heading', { name: 'For later', level: 1 }).waitFor();
    const { json } = await portal.mailed.app.call('GET', '/reactors', { key: portal.tenant.key });
    assert.equal(json.data[0].name, 'For later');
    await ann.leave();
  });
});
