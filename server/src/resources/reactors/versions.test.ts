import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { openReactor } from './definition/content.js';

const START_MS = Date.UTC(2030, 0, 15, 12);

interface Version {
  readonly version: number;
  readonly code: string;
}

describe('versions of reactors', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const versions = async (id: string): Promise<Version[]> => (await call('GET', `/reactors/${id}/versions`)).json;

  async function made(body: object): Promise<string> {
    return (await call('POST', '/reactors', { body })).json.id;
  }

  it('200 with what it was before, newest first: number, maker, moment and code', async () => {
    const maker = (await call('GET', '/applications/key')).json.id;
    const id = await made({ name: 'R', code: 'one', configuration: { A: 'secret' } });
    assert.deepEqual(await versions(id), []);
    clock.advance(1000);
    await call('PUT', `/reactors/${id}`, { body: { name: 'R', code: 'two' } });
    clock.advance(1000);
    await call('PATCH', `/reactors/${id}`, { body: { code: 'three' } });
    assert.deepEqual(await versions(id), [
      { version: 2, created_by: maker, created_at: '2030-01-15T12:00:01.000+00:00', code: 'two' },
      { version: 1, created_by: maker, created_at: '2030-01-15T12:00:00.000+00:00', code: 'one' },
    ]);
  });

  it('the last 20 are kept', async () => {
    const id = await made({ name: 'R', code: 'c1' });
    for (let n = 2; n <= 24; n += 1) await call('PATCH', `/reactors/${id}`, { body: { code: `c${n}` } });
    const expected = Array.from({ length: 20 }, (_, n) => `${23 - n} c${23 - n}`);
    assert.deepEqual(
      (await versions(id)).map(({ version, code }) => `${version} ${code}`),
      expected,
    );
    assert.equal((await call('POST', `/reactors/${id}/versions/3/restore`)).status, 404);
  });

  it('200 for restore: name, code, configuration and Application as they were; the secret stays; one entry', async () => {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:create']);
    const first = { name: 'First', code: 'one', configuration: { A: 'a' }, application: { id: applicationId } };
    const id = await made(first);
    const secret = await sealedSecretOf(id);
    await call('PUT', `/reactors/${id}`, { body: { name: 'Second', code: 'two' } });
    clock.advance(1);
    const { status, json } = await call('POST', `/reactors/${id}/versions/1/restore`);
    assert.equal(status, 200);
    assert.deepEqual(
      [json.name, json.code, json.configuration, json.application.id],
      ['First', 'one', { A: 'a' }, applicationId],
    );
    assert.deepEqual((await call('GET', `/reactors/${id}`)).json, json);
    assert.deepEqual(
      (await versions(id)).map(({ version }) => version),
      [2, 1],
    );
    assert.equal(await sealedSecretOf(id), secret);
    const found = await app.db.owner.query(
      `SELECT message FROM logs WHERE entity_id = $1 AND operation = 'update' ORDER BY created_at, id`,
      [id],
    );
    assert.deepEqual(
      found.rows.map(({ message }) => message),
      ['Reactor updated', 'Reactor restored'],
    );
  });

  it('404 for a version there is not, however it is written', async () => {
    const id = await made({ name: 'R', code: 'one' });
    await call('PATCH', `/reactors/${id}`, { body: { code: 'two' } });
    for (const version of ['2', '0', '-1', '1.0', '01', 'x', '99999999999999999999']) {
      const { status, json } = await call('POST', `/reactors/${id}/versions/${version}/restore`);
      assert.deepEqual([status, json.code], [404, 'not_found'], version);
    }
  });

  async function sealedSecretOf(id: string): Promise<string> {
    const { rows } = await app.db.owner.query('SELECT * FROM reactors WHERE id = $1', [id]);
    return openReactor(await app.keyStore.keyring.forTenant(tenant.id), rows[0]).callbackSecret;
  }
});
