import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

describe('tenants', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  it('200 with exactly the fields of a tenant that was never changed', async () => {
    const tenant = await app.makeTenant('Fresh');
    const { status, json } = await app.call('GET', '/tenants/self', { key: tenant.key });
    assert.equal(status, 200);
    const { created_at, ...rest } = json;
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    assert.deepEqual(rest, {
      id: tenant.id,
      owner_id: tenant.ownerId,
      name: 'Fresh',
      settings: { fingerprint_tokens: 'false', deduplicate_tokens: 'false' },
    });
  });
});
