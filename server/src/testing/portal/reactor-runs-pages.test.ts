// needs: chromium, engine

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { PASSWORD } from '../../resources/portal/portal-fixture.js';
import { eventually } from '../eventually.js';
import { assertNothingRan, definitionTests, HOSTILE } from './definition-pages-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

/** The limit, and what bounds a hang behind it. */
const LIMIT_HANGS_MS = 90_000;

describe('runs of Reactors on their pages', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  /** Began a run without an end before all others, so that nobody has to wait for its limit. */
  let waiting: MemberAtBrowser;
  let withoutEnd: string;
  const { call, make, write } = definitionTests(() => portal);
  before(async () => {
    portal = await startPortalOfTenant();
    withoutEnd = (await portal.mailed.app.makeTenant('Without an end')).id;
    waiting = await portal.visit('ADMIN', withoutEnd);
    await waiting.open('reactors/new');
    await write(waiting, 'Code', 'module.exports = () => new Promise(() => setInterval(() => {}, 1000));');
    await waiting.click('Run');
  });
  after(async () => {
    await waiting?.leave();
    await portal?.close();
  });
  beforeEach(async () => {
    ann = await portal.visit();
  });
  afterEach(() => ann.leave());

  const part = (label: string) => ann.page.getByRole('region', { name: label, exact: true });

  it('show what code returns and prints before it is saved, with the settings as they stand', async () => {
    const stored = 'module.exports = () => ({ raw: 1 });';
    const id = await make('/reactors', { name: 'Tried', code: stored, configuration: { A: 'stored', B: 'kept' } });
    await ann.open(`reactors/${id}`);
    await write(
      ann,
      'Code',
      `module.exports = ({ args, configuration, client }) => {
         console.error('printed', ${JSON.stringify(HOSTILE)});
         return { raw: [args.n + 1, configuration, client], tokenize: { t: 1 } };
       };`,
    );
    await ann.click('Show A');
    await ann.fill('Value of A', 'not saved');
    await ann.fill('Arguments (JSON)', '{ "n": 1 }');
    await ann.click('Run');
    await ann.reads('Returned');
    assert.deepEqual(JSON.parse((await part('raw').textContent()) ?? ''), [2, { A: 'not saved', B: 'kept' }, null]);
    assert.deepEqual(JSON.parse((await part('tokenize').textContent()) ?? ''), { t: 1 });
    assert.equal(await part('What the code printed').textContent(), `errorprinted ${HOSTILE}`);
    await ann.reads(/ms of 30 s/);
    await assertNothingRan(ann);
    assert.equal((await call('GET', `/reactors/${id}`)).json.code, stored);
  });

  it('ask who one is when the sign-in is old, and then run what was in the editor', async () => {
    const id = await make('/reactors', { name: 'Late', code: 'module.exports = () => ({ raw: 1 });' });
    await ann.open(`reactors/${id}`);
    await write(ann, 'Code', 'module.exports = () => ({ raw: "run at last" });');
    await portal.mailed.pass(11 * 60_000);
    await ann.click('Run');
    await ann.reads('Is it you?');
    await ann.fill('Password', PASSWORD);
    await ann.click('Go on');
    await ann.reads('run at last');
  });

  it('show plainly what went wrong: a throw, code that does not compile, an answer of its own, wrong arguments', async () => {
    await ann.open('reactors/new');
    const run = async (code: string) => {
      await write(ann, 'Code', code);
      await ann.click('Run');
    };
    await run(`console.log('before'); module.exports = () => { throw new Error(${JSON.stringify(HOSTILE)}); };`);
    await ann.reads('Reactor Runtime Error, status 500');
    await ann.page.getByText(HOSTILE, { exact: true }).waitFor();
    await run('module.exports = ;');
    await ann.reads('Invalid Reactor Code, status 422');
    await run(
      `const { RateLimitError } = require('strongroom-errors'); module.exports = () => { throw new RateLimitError('slow down'); };`,
    );
    await ann.reads('Rate Limit Exceeded, status 429');
    assert.equal(await ann.page.getByText('Too many requests.').count(), 0, 'it is the code that says so');
    for (const status of [204, 299, 418]) {
      await run(
        `const { CustomHttpResponseError: E } = require('strongroom-errors');
         module.exports = () => { throw new E({ status: ${status}, headers: {}, body: 'own words' }); };`,
      );
      await ann.reads(status === 204 ? 'Nothing but a status that has no body' : `status ${status}`);
    }
    await ann.fill('Arguments (JSON)', '{');
    await ann.reads(/^This is not JSON/);
    assert.ok(await ann.page.getByRole('button', { name: 'Run' }).isDisabled());
    await ann.fill('Arguments (JSON)', '{ "a": ["{{ x }}"] }');
    await ann.click('Run');
    await ann.reads('args.a[0] must hold no expression: a test uses no tokens');
    await assertNothingRan(ann);
  });

  it('list requests that wait or failed, cancel one and try another again', async () => {
    const { key } = await portal.mailed.app.makeApplication(portal.tenant.id, 'private', ['token:use']);
    const id = await make('/reactors', { name: 'Queued', code: 'module.exports = () => ({ raw: 1 });' });
    // An address that nothing may be sent to: they wait to be delivered for hours.
    const body = { callback_url: 'https://10.0.0.1/' };
    for (let n = 0; n < 2; n += 1)
      assert.equal((await portal.mailed.app.call('POST', `/reactors/${id}/react`, { key, body })).status, 202);
    const requests = async () => (await call('GET', `/reactors/${id}/requests`)).json.data;
    await eventually('both were tried', async () =>
      (await requests()).every(({ error }: { error?: { code: string } }) => error?.code === 'callback_refused'),
    );
    const [cancelled, failed] = (await requests()).map((request: { id: string }) => request.id);
    await portal.mailed.app.db.owner.query(
      `UPDATE reactor_requests SET state = 'failed', lease = NULL WHERE id = $1 AND state = 'delivering'`,
      [failed],
    );
    await ann.open(`reactors/${id}?tab=requests`);
    const row = ann.page.getByRole('row', { name: failed });
    await row.getByText('failed', { exact: true }).waitFor();
    await row.getByText('callback_refused').waitFor();
    await ann.click(`Cancel ${cancelled}`);
    await ann.page.getByRole('row', { name: cancelled }).waitFor({ state: 'detached' });
    await ann.click(`Retry ${failed}`);
    await row.getByText('delivering', { exact: true }).waitFor();
    assert.deepEqual(
      (await requests()).map((request: { id: string; state: string }) => [request.id, request.state]),
      [[failed, 'delivering']],
    );
  });

  it('say that the limit of time was reached, of a run that took place once', async () => {
    const result = waiting.page.getByRole('region', { name: 'Result', exact: true });
    await result.waitFor({ timeout: LIMIT_HANGS_MS });
    assert.match((await result.getByRole('status').textContent()) ?? '', /^FailedTime limit reached/);
    await result.getByText('reactor_timeout').waitFor();
    await result.getByText(/30000 ms/).waitFor();
    const { rows } = await portal.mailed.app.db.owner.query(
      `SELECT outcome FROM logs WHERE tenant_id = $1 AND entity_type = 'reactor'`,
      [withoutEnd],
    );
    assert.deepEqual(rows, [{ outcome: 'failure' }], 'it ran once: browsers repeat what is answered 408');
    const failures = portal.mailed.app.logLines.filter((line) => line.includes('"request failed"'));
    assert.deepEqual(failures, [], 'code that runs too long is the affair of its tenant');
  });
});
