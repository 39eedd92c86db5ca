// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const KEY = /key_pvt_[0-9A-Za-z]{32}/;
const HOUR_MS = 3_600_000;

describe('the keys on the page of an Application', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  let made: { readonly id: string; readonly key: string };
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());
  beforeEach(async () => {
    made = await portal.mailed.app.makeApplication(portal.tenant.id, 'private', ['token:read']);
    ann = await portal.visit();
    await ann.open(`applications/${made.id}`);
  });
  afterEach(() => ann.leave());

  const statusWith = async (key: string) => (await portal.mailed.app.call('GET', '/applications/key', { key })).status;
  const keyRows = () => ann.page.getByRole('table', { name: 'Keys' }).getByRole('row');
  async function storedKey(): Promise<string> {
    const dialog = ann.page.getByRole('dialog');
    await dialog.getByText(KEY).waitFor();
    const key = KEY.exec(await dialog.innerText())?.[0] ?? assert.fail('a key');
    await ann.click('I have stored it');
    await dialog.waitFor({ state: 'detached' });
    assert.doesNotMatch(await ann.page.content(), KEY);
    return key;
  }
  async function rotate(overlap: string): Promise<string> {
    await ann.click('Rotate');
    await ann.page.getByRole('radio', { name: overlap }).check();
    await ann.click('Make the new key');
    return storedKey();
  }

  it('rotates with an overlap: both keys work, the old one shows its end and stops there', async () => {
    const fresh = await rotate('1 hour');
    await keyRows().filter({ hasText: 'Replaced' }).waitFor();
    assert.deepEqual([await statusWith(made.key), await statusWith(fresh)], [200, 200]);
    await portal.mailed.pass(HOUR_MS + 1);
    assert.deepEqual([await statusWith(made.key), await statusWith(fresh)], [401, 200]);
  });

  it('rotates without an overlap: the old key stops at once', async () => {
    const fresh = await rotate('Not at all');
    assert.deepEqual([await statusWith(made.key), await statusWith(fresh)], [401, 200]);
    assert.equal(await keyRows().count(), 2, 'the head and the new key');
  });

  it('adds a further key, and revokes one when it is confirmed, not before', async () => {
    await ann.click('Add a key');
    const further = await storedKey();
    await keyRows().nth(2).waitFor();
    const { json: keys } = await portal.mailed.app.call('GET', `/applications/${made.id}/keys`, {
      key: portal.tenant.key,
    });
    assert.deepEqual([await statusWith(made.key), await statusWith(further)], [200, 200]);
    const [newest, oldest] = keys;
    assert.ok(newest.id !== oldest.id);
    await ann.click(`Revoke ${oldest.id}`);
    await ann.click('Cancel');
    assert.deepEqual([await statusWith(made.key), await statusWith(further)], [200, 200]);
    await ann.click(`Revoke ${oldest.id}`);
    await ann.click('Revoke the key');
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' }); // What is behind it is hidden from roles.
    await ann.page.getByRole('button', { name: `Revoke ${oldest.id}` }).waitFor({ state: 'detached' });
    const statuses = [await statusWith(made.key), await statusWith(further)].sort();
    assert.deepEqual(statuses, [200, 401], 'one of the two has ended');
  });

  it('says what the end of the last key means, and what to do without one', async () => {
    await ann.click(/^Revoke/);
    await ann.reads(/It is the last one/);
    await ann.click('Revoke the key');
    await ann.reads('No key works');
    assert.equal(await statusWith(made.key), 401);
  });

  it('offers no eleventh key', async () => {
    for (let at = 1; at < 10; at += 1) {
      await portal.mailed.app.call('POST', `/applications/${made.id}/keys`, { key: portal.tenant.key, body: {} });
    }
    await ann.page.reload();
    await ann.reads(/There are ten keys/);
    assert.equal(await ann.page.getByRole('button', { name: 'Add a key' }).isDisabled(), true);
  });
});
