import assert from 'node:assert/strict';
import { eventually } from '../../../testing/eventually.js';
import type { Answer } from '../../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';

export const MANAGES = ['reactor:create', 'reactor:read', 'reactor:update', 'reactor:delete', 'log:read'];
export const USES = ['token:create', 'token:use'];

/** A tenant with somebody who keeps Reactors and somebody who has them run. */
export interface QueueTenant {
  readonly tenant: TestTenant;
  readonly manager: string;
  readonly caller: { readonly id: string; readonly key: string };
  make(code: string, more?: object): Promise<{ readonly id: string; readonly callback_secret: string }>;
  /** Takes a call on; resolves with the id of the request. */
  ask(reactorId: string, body?: object, key?: string): Promise<string>;
  /** The result, once it is there. */
  result(reactorId: string, requestId: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
  row(requestId: string): Promise<Record<string, unknown> | undefined>;
}

export async function queueTenant(app: TestApp): Promise<QueueTenant> {
  const tenant = await app.makeTenant();
  const manager = await app.makeKey(tenant.id, 'management', MANAGES);
  const caller = await app.makeApplication(tenant.id, 'private', USES);
  return {
    tenant,
    manager,
    caller,
    async make(code, more = {}) {
      const made = await app.call('POST', '/reactors', { key: manager, body: { name: 'r', code, ...more } });
      assert.equal(made.status, 201, made.text);
      return made.json;
    },
    async ask(reactorId, body = {}, key = caller.key) {
      const asked = await app.call('POST', `/reactors/${reactorId}/react-async`, { key, body });
      assert.equal(asked.status, 202, asked.text);
      return asked.json.asyncReactorRequestId;
    },
    async result(reactorId, requestId) {
      const path = `/reactors/${reactorId}/results/${requestId}`;
      let answer = await app.call('GET', path, { key: caller.key });
      await eventually('the result is there', async () => {
        answer = await app.call('GET', path, { key: caller.key });
        return answer.status !== 404;
      });
      return answer;
    },
    get: (path) => app.call('GET', path, { key: manager }),
    async row(requestId) {
      return (await app.db.owner.query('SELECT * FROM reactor_requests WHERE id = $1', [requestId])).rows[0];
    },
  };
}
