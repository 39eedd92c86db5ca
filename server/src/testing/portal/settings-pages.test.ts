// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { makeMember } from '../../resources/members/member-fixture.js';
import type { TestTenant } from '../test-app.js';
import { addAuthenticator } from './portal-page-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const DAY_MS = 86_400_000;
const HOSTILE = `<img src=x onerror=alert(1)>"'`;

describe('the page of settings in a real browser', () => {
  let portal: PortalOfTenant;
  let tenant: TestTenant;
  let ann: MemberAtBrowser;
  before(async () => {
    portal = await startPortalOfTenant();
  });
  after(() => portal?.close());
  beforeEach(async () => {
    tenant = await portal.mailed.app.makeTenant('Payments');
    ann = await portal.visit('OWNER', tenant.id);
    await ann.open('settings');
  });
  afterEach(() => ann.leave());

  const stored = async () => (await portal.mailed.app.call('GET', '/tenants/self', { key: tenant.key })).json;

  it('renames the tenant, to a text and nothing else', async () => {
    await ann.fill('Name of the tenant', '   ');
    await ann.click('Rename');
    await ann.page.getByLabel('Name of the tenant').and(ann.page.locator('[aria-invalid=true]')).waitFor();
    await ann.fill('Name of the tenant', HOSTILE);
    await ann.click('Rename');
    await ann.page.getByRole('button', { name: `${HOSTILE}. Change to another tenant` }).waitFor();
    assert.equal((await stored()).name, HOSTILE);
    assert.equal(await ann.page.locator('img[src=x]').count(), 0);
  });

  it('turns each of the two settings on and off, and says what it does', async () => {
    await ann.click('Turn on fingerprints');
    await ann.reads('Every token that is created or changed from now on has one');
    await ann.click('Turn on deduplication');
    await ann.reads('answers with that token, and stores nothing new');
    assert.deepEqual((await stored()).settings, { fingerprint_tokens: 'true', deduplicate_tokens: 'true' });
    await ann.click('Turn off fingerprints');
    await ann.reads('Only a token that sets an expression has one.');
    assert.deepEqual((await stored()).settings, { fingerprint_tokens: 'false', deduplicate_tokens: 'true' });
  });

  it('says who has no second factor, and refuses a rule that locks its author out at its field', async () => {
    const bob = await makeMember(portal.mailed.app, tenant.id, 'READ_ONLY');
    await ann.page.reload();
    await ann.reads(new RegExp(bob.email));
    await ann.fill('Second factor from', '2031-05-01');
    await ann.click('Set the rules');
    await ann.reads(/would lock you out/);
  });

  it('sets a second factor for everybody: who has none is named, told in time, and refused from that day on', async () => {
    const bob = await portal.visit('READ_ONLY', tenant.id);
    await addAuthenticator(ann);
    await ann.page.goto(`${ann.portal}/account`);
    await ann.click('Add a passkey');
    await ann.reads(/^Added/);
    await ann.open('settings');
    const lacking = ann.page.getByText(/^Have no second factor yet: \d+$/).locator('..');
    await lacking.getByText(bob.email).waitFor();
    assert.ok(!(await lacking.innerText()).includes(ann.email), 'who has a passkey has a second factor');
    const dayIn = (ms: number) => new Date(portal.mailed.clock.nowMs() + ms).toISOString().slice(0, 10);
    const setFrom = async (day: string) => {
      await ann.fill('Second factor from', day);
      await ann.click('Set the rules');
      await ann.reads('The rules are set.');
      await ann.page.reload();
    };
    await setFrom(dayIn(DAY_MS));
    await ann.reads(new RegExp(bob.email));
    assert.equal(await ann.page.getByLabel('Second factor from', { exact: true }).inputValue(), dayIn(DAY_MS));
    await bob.open('members');
    await bob.reads('This tenant asks for a second factor');
    await bob.page.getByRole('row').filter({ hasText: ann.email }).waitFor();
    await setFrom(dayIn(0));
    await bob.page.reload();
    await bob.reads(/Add one to your account if you have none/);
    assert.equal(await bob.page.getByRole('row').filter({ hasText: ann.email }).count(), 0);
    await setFrom('');
    await bob.page.reload();
    await bob.page.getByRole('row').filter({ hasText: ann.email }).waitFor();
    await bob.leave();
  });

  it('is left by a member, who has no access then', async () => {
    const bob = await portal.visit('ADMIN', tenant.id);
    await bob.open('settings');
    await bob.click('Leave');
    await bob.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await bob.reads('You belong to no tenant yet');
    await bob.open('members');
    await bob.reads('There is no such tenant, or you are not a member of it');
    await bob.leave();
  });

  it('deletes the tenant only when its name was typed', async () => {
    await ann.click('Delete');
    await ann.reads('Export first');
    const forGood = ann.page.getByRole('button', { name: 'Delete for good' });
    assert.ok(await forGood.isDisabled());
    await ann.fill('Type Payments to go on', 'payments');
    assert.ok(await forGood.isDisabled());
    await ann.fill('Type Payments to go on', 'Payments');
    await forGood.click();
    await ann.reads('You belong to no tenant yet');
    assert.equal((await portal.mailed.app.call('GET', '/tenants/self', { key: tenant.key })).status, 401);
  });

  it('gives a tenant of its own away, and is an administrator then', async () => {
    await ann.page.goto(`${ann.portal}/tenants`);
    await ann.click('New tenant');
    await ann.fill('Name', 'To be given');
    await ann.click('Create');
    await ann.page.getByRole('link', { name: /To be given/ }).click();
    await ann.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const [, given = ''] = /tenants\/([0-9a-f-]{36})\//.exec(ann.page.url()) ?? [];
    const bob = await makeMember(portal.mailed.app, given, 'ADMIN');
    await ann.page.goto(`${ann.portal}/tenants/${given}/settings`);
    await ann.click('Give away');
    await ann.page.getByLabel('New owner').selectOption({ label: bob.email });
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Give away' }).click();
    await ann.reads('Leave this tenant');
    await ann.page.goto(`${ann.portal}/tenants/${given}/members`);
    await ann.page.getByRole('row').filter({ hasText: bob.email }).getByText('Owner').waitFor();
  });

  it('shows a reader the settings, and nothing to change them with', async () => {
    const reader = await portal.visit('READ_ONLY', tenant.id);
    await reader.open('settings');
    await reader.reads(/You are a Reader of this tenant/);
    await reader.reads('Deduplication');
    assert.equal(
      await reader.page.getByRole('button', { name: /^(Turn|Rename|Set the rules|Delete|Give)/ }).count(),
      0,
    );
    await reader.leave();
  });
});
