// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, PASSWORD } from './portal-fixture.js';

const DOTS = '••••';
const CODE = 'module.exports = (req) => ({ raw: req.configuration });';
const KINDS = [
  ['/reactors', { name: 'R', code: CODE }],
  ['/proxies', { name: 'P', destination_url: 'https://a.example/base' }],
] as const;

describe('settings that a user is shown as dots', () => {
  let app: TestApp;
  let clock: FakeClock;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const made = async (path: string, body: object) =>
    (await app.call('POST', path, { key: tenant.key, body: { ...body, configuration: { A: 'canary', B: 'b' } } })).json;
  const settingsOf = async (path: string) => (await app.call('GET', path, { key: tenant.key })).json.configuration;
  const as = () => ({ 'SVC-TENANT-ID': tenant.id });

  /** Seven hours after its sign-in. */
  async function staleAdmin(): Promise<Browser> {
    const { browser } = await makePerson(app, tenant.id, 'ADMIN');
    clock.advance(7 * 3_600_000);
    return browser;
  }
  async function steppedUp(browser: Browser): Promise<void> {
    assert.equal((await browser.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
  }

  for (const [path, body] of KINDS) {
    it(`200 with dots on ${path} for an ADMIN whose sign-in is old, and the values after a step-up`, async () => {
      const { id } = await made(path, body);
      const browser = await staleAdmin();
      const shown = async () => (await browser.call('GET', `${path}/${id}`, undefined, as())).json;
      const [listed] = (await browser.call('GET', `${path}?id=${id}`, undefined, as())).json.data;
      const { configuration, key } = await shown();
      assert.deepEqual(configuration, { A: DOTS, B: DOTS });
      assert.deepEqual([listed.configuration, listed.key], [configuration, key]);
      assert.ok(key === undefined || key === DOTS);
      await steppedUp(browser);
      assert.deepEqual((await shown()).configuration, { A: 'canary', B: 'b' });
    });

    it(`PUT and PATCH of ${path} with dots sent back leave the settings behind them as they are`, async () => {
      const { id } = await made(path, body);
      const one = `${path}/${id}`;
      const browser = await staleAdmin();
      const { json: shown } = await browser.call('GET', one, undefined, as());
      await steppedUp(browser);
      const changed = { ...body, configuration: { ...shown.configuration, B: 'changed', C: 'new' } };
      assert.equal((await browser.call('PUT', one, changed, as())).status, 200);
      assert.deepEqual(await settingsOf(one), { A: 'canary', B: 'changed', C: 'new' });
      const patch = { configuration: { A: DOTS, B: null } };
      assert.equal((await browser.call('PATCH', one, patch, as())).status, 204);
      assert.deepEqual(await settingsOf(one), { A: 'canary', C: 'new' });
    });

    it(`400 for dots on ${path} that stand for nothing, and nothing changes`, async () => {
      const { id } = await made(path, body);
      const one = `${path}/${id}`;
      const { browser } = await makePerson(app, tenant.id, 'ADMIN');
      const dots = { ...body, configuration: { NEW: DOTS } };
      for (const [method, address] of [
        ['POST', path],
        ['PUT', one],
        ['PATCH', one],
      ] as const) {
        const { status, json } = await browser.call(method, address, dots, as());
        assert.deepEqual([status, Object.keys(json.errors)], [400, ['configuration.NEW']], method);
      }
      assert.deepEqual(await settingsOf(one), { A: 'canary', B: 'b' });
    });

    it(`a key of the API writes dots to ${path} as what they are`, async () => {
      const { id } = await made(path, body);
      const patch = { configuration: { A: DOTS } };
      await app.call('PATCH', `${path}/${id}`, { key: tenant.key, body: patch });
      assert.deepEqual(await settingsOf(`${path}/${id}`), { A: DOTS, B: 'b' });
    });
  }

  it('403 step_up_required for code that is tried with an old sign-in, with settings that are stored or without', async () => {
    const { id } = await made('/reactors', KINDS[0][1]);
    const browser = await staleAdmin();
    for (const path of [`/reactors/${id}/test`, '/reactors/test']) {
      const { status, json } = await browser.call('POST', path, { code: CODE }, as());
      assert.deepEqual([status, json.code], [403, 'step_up_required'], path);
    }
    await steppedUp(browser);
    const body = { configuration: { A: DOTS, B: 'tried' } };
    const { json } = await browser.call('POST', `/reactors/${id}/test`, body, as());
    assert.deepEqual(json.raw, { A: 'canary', B: 'tried' });
  });
});
