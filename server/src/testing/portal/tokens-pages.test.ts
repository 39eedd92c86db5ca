// needs: chromium

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

/** Not the one of the examples, which is in the scripts. */
const NUMBER = '4111111111111111';
const SECRET = 'canary-of-the-data';
const HOSTILE = `<img src=x onerror=alert(1)>"'`;

describe('the pages of tokens', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  let key: string;
  /** Bodies of all answers to the page, and what it asked for. */
  let answers: string[];
  let asked: string[];
  before(async () => {
    portal = await startPortalOfTenant();
    key = await portal.mailed.app.makeKey(portal.tenant.id, 'private', ['token:create', 'token:delete']);
  });
  after(() => portal?.close());
  beforeEach(async () => {
    ann = await portal.visit();
    [answers, asked] = [[], []];
    ann.page.on('response', async (response) => {
      answers.push(await response.text().catch(() => ''));
    });
    ann.page.on('request', (request) => {
      if (request.url().includes('/api/')) asked.push(`${request.url()} ${request.postData() ?? ''}`);
    });
  });
  afterEach(() => ann.leave());

  async function make(body: object, by = key): Promise<string> {
    const { status, json, text } = await portal.mailed.app.call('POST', '/tokens', { key: by, body });
    assert.equal(status, 201, text);
    return json.id;
  }
  const logOf = async (id: string) => {
    const path = `/logs?entity_id=${encodeURIComponent(id)}`;
    return (await portal.mailed.app.call('GET', path, { key: portal.tenant.key })).json.data;
  };
  const ask = async (text: string) => {
    await ann.fill('Id or search', text);
    await ann.click('Search');
  };
  const link = (id: string) => ann.page.getByRole('link', { name: id, exact: true });

  it('looks at nothing before it is asked, because each look is logged', async () => {
    const id = await make({ data: 'unseen' });
    await ann.open('tokens');
    await ann.reads('Which token are you looking for?');
    await ann.page.waitForLoadState('networkidle');
    assert.deepEqual(
      (await logOf(id)).map(({ message }: { message: string }) => message),
      ['Token created'],
    );
    await ann.click('Show the newest');
    await link(id).waitFor();
    assert.equal((await logOf(id)).length, 2);
  });

  it('finds by id, type, container and metadata, and the address shows the same again', async () => {
    const card = await make({ type: 'card', data: { number: NUMBER }, metadata: { customer: 'c-17' } });
    const deep = await make({ data: 'x', containers: ['/deep/er/'], metadata: { colour: 'Blue one' } });
    await ann.open('tokens');
    await ask('type:card AND metadata.customer:C-17');
    await link(card).waitFor();
    assert.equal(await link(deep).count(), 0);
    await ask('container:/deep/');
    await link(deep).waitFor();
    assert.equal(await link(card).count(), 0);
    await ann.page.reload();
    await link(deep).waitFor();
    assert.equal(await ann.page.getByLabel('Id or search').inputValue(), 'container:/deep/');
    await ask(card);
    await link(card).waitFor();
    await ask('metadata.colour:"no such"');
    await ann.reads('No token is like that');
    await ann.page.goBack();
    await link(card).waitFor();
  });

  it('goes on to older ones and back to the newest', async () => {
    const ids = new Set<string>();
    for (let at = 0; at < 25; at += 1) ids.add(await make({ data: `${at}`, containers: ['/paged/'] }));
    const rows = () => ann.page.getByRole('table', { name: 'Tokens' }).getByRole('link');
    const shown = () => rows().allInnerTexts();
    await ann.open('tokens?q=container:/paged/');
    await ann.page.getByRole('table', { name: 'Tokens' }).waitFor();
    const first = await shown();
    await ann.click('Older');
    await rows().nth(5).waitFor({ state: 'detached' });
    await rows().nth(4).waitFor();
    const second = await shown();
    assert.deepEqual(new Set([...first, ...second]), ids, 'each once');
    assert.match(ann.page.url(), /start=/);
    await ann.click('Newest');
    await rows().nth(19).waitFor();
    assert.doesNotMatch(ann.page.url(), /start=/);
    await ann.open('tokens?q=container:/other/&start=made-up');
    await ann.reads('This page is gone');
  });

  it('asks for no value, key or card number, and puts none into the address', async () => {
    await ann.open('tokens');
    await ann.reads('Which token are you looking for?');
    asked.length = 0;
    const refused: readonly (readonly [string, RegExp])[] = [
      [`data:${NUMBER}`, /data is not searched here/],
      ['type:card AND NOT (fingerprint:x)', /fingerprint is not searched here/],
      ['4111-1111-1111-1111', /may be a card number/],
      [key, /This is a key/],
    ];
    for (const [text, fault] of refused) {
      await ask(text);
      await ann.reads(fault);
      assert.match(ann.page.url(), /\/tokens$/);
    }
    assert.equal(asked.join(), '', 'nothing was asked for');
    await ann.open(`tokens?q=${encodeURIComponent('data:secret')}`);
    await ann.reads(/data is not searched here/);
    assert.equal(
      asked.some((each) => each.includes('tokens/search')),
      false,
    );
  });

  it('tells where a search is wrong, at its field', async () => {
    await ann.open('tokens');
    await ask('type:card type:bank');
    const field = ann.page.getByLabel('Id or search');
    await ann.reads(/character \d+/);
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await ask('created_by:somebody');
    await ann.reads(/created_by is not searched here/);
  });

  it('shows type, containers, metadata and history of one, says where its data is not, and has none of it', async () => {
    const id = await make({
      type: 'card',
      data: { number: NUMBER, holder: SECRET },
      mask: { hint: `${SECRET} in the mask` },
      metadata: { customer: 'c-18', [HOSTILE]: HOSTILE },
      expires_at: '2090-05-05',
    });
    await ann.open(`tokens?q=id:${id}`);
    await link(id).click();
    await ann.page.getByRole('heading', { name: `Token ${id}`, level: 1 }).waitFor();
    await ann.reads('What the token holds is not shown here');
    await ann.reads(/Whoever may create Applications can grant it to a key/);
    await ann.reads('May 5, 2090');
    await ann.reads('/pci/high/');
    await ann.page.getByRole('definition').filter({ hasText: 'c-18' }).waitFor();
    await ann.page.getByRole('term').filter({ hasText: HOSTILE }).waitFor();
    const history = ann.page.getByRole('table', { name: 'History' });
    await history.getByText('Token created').waitFor();
    await history.getByText('private under test').waitFor();
    await history.getByText('Token retrieved').waitFor();
    await history.getByText(ann.email).first().waitFor();
    const everything = [...answers, ...asked, await ann.page.content(), ann.page.url()].join('\n');
    assert.equal(everything.includes(NUMBER) || everything.includes(SECRET), false);
    assert.ok(everything.includes(id));
  });

  it('does not look again by itself: one visit is one entry', async () => {
    const id = await make({ data: 'once' });
    await ann.open(`tokens/${id}`);
    await ann.page.getByRole('table', { name: 'History' }).getByText('Token retrieved').waitFor();
    await ann.page.evaluate(
      `window.dispatchEvent(new Event('focus')); document.dispatchEvent(new Event('visibilitychange'))`,
    );
    await ann.page.waitForLoadState('networkidle');
    const looks = (await logOf(id)).filter(({ operation }: { operation: string }) => operation === 'read');
    assert.equal(looks.length, 1);
  });

  it('says plainly that there is no such token, and what the log knows of a deleted one', async () => {
    await ann.open('tokens/nothing-like-this');
    await ann.reads('There is no token with this id');
    await ann.reads('The log has nothing about this id.');
    const id = await make({ data: 'gone' });
    await portal.mailed.app.call('DELETE', `/tokens/${id}`, { key });
    await ann.open(`tokens/${id}`);
    await ann.reads('There is no token with this id');
    await ann.page.getByRole('table', { name: 'History' }).getByText('Token deleted').waitFor();
  });

  it('says the same of a neighbour’s token, and shows nothing of it', async () => {
    const other = await portal.mailed.app.makeTenant('Others');
    const theirs = await portal.mailed.app.makeKey(other.id, 'private', ['token:create']);
    const id = await make({ data: 'theirs', metadata: { owner: 'the-neighbour' } }, theirs);
    await ann.open(`tokens/${id}`);
    await ann.reads('There is no token with this id');
    await ann.reads('The log has nothing about this id.');
    assert.equal(answers.join('').includes('the-neighbour'), false);
  });

  it('opens ids with spaces and other signs, and shows hostile metadata as text in the list', async () => {
    const id = await make({
      id: 'an id: "quoted" and so.on',
      data: 'x',
      metadata: { name: HOSTILE },
    });
    await ann.open('tokens?show=newest');
    await ann.page.getByText(HOSTILE).first().waitFor();
    await link(id).click();
    await ann.page.getByRole('heading', { name: `Token ${id}`, level: 1 }).waitFor();
    await ann.page.getByRole('definition').filter({ hasText: HOSTILE }).waitFor();
    await ann.page.reload();
    await ann.page.getByRole('definition').filter({ hasText: HOSTILE }).waitFor();
  });

  it('shows a Reader the same, without the way to an Application that reads it', async () => {
    const id = await make({ data: 'for readers', metadata: { who: 'everybody' } });
    const reader = await portal.visit('READ_ONLY');
    await reader.open(`tokens/${id}`);
    await reader.reads('everybody');
    await reader.reads('What the token holds is not shown here');
    assert.equal(await reader.page.getByRole('link', { name: /^Create an Application/ }).count(), 0);
    await reader.leave();
    await ann.open(`tokens/${id}`);
    await ann.page.getByRole('link', { name: 'Create an Application that reads tokens' }).click();
    await ann.reads('A link filled in this form');
  });
});
