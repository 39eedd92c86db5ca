// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { permissionsOf } from '../../access/permissions.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import { eventually } from '../eventually.js';
import type { TestApp, TestTenant } from '../test-app.js';
import { startTestApp } from '../test-app.js';
import type { DocumentObject } from './document.js';
import { DOCUMENT_FILE, readDocument } from './document.js';
import type { LinkedRequest } from './linked-requests.js';
import { followed, requestsOf } from './linked-requests.js';

const RESULT_PATH = '/reactors/{id}/results/{request_id}';

describe('the examples of the API document', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let document: DocumentObject;
  let keys: Readonly<Record<string, string>>;
  before(async () => {
    app = await startTestApp();
    document = await readDocument(DOCUMENT_FILE);
    tenant = await app.makeTenant('A tenant "of value", \\ and more');
    // The newest member, whom the example of a change means: an owner keeps its role.
    await makeMember(app, tenant.id, 'READ_ONLY');
    const rules = [
      { priority: 1, container: '/', transform: 'reveal', permissions: permissionsOf('private') } as const,
    ];
    keys = {
      management: tenant.key,
      private: await app.makeKey(tenant.id, 'private', [], rules),
      public: await app.makeKey(tenant.id, 'public', permissionsOf('public')),
    };
  });
  after(() => app?.close());

  const keyFor = ({ applicationTypes }: LinkedRequest): string | undefined =>
    keys[applicationTypes.findLast((type) => keys[type] !== undefined) ?? ''];

  /** What comes of a call that was taken on is asked for until it is there. */
  async function sendUntilThere(request: LinkedRequest) {
    let answer = await send(request);
    if (request.path !== RESULT_PATH) return answer;
    await eventually('the result is there', async () => {
      answer = await send(request);
      return answer.status !== 404;
    });
    return answer;
  }

  async function send(request: LinkedRequest) {
    const path = request.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(request.params[name] ?? ''),
    );
    const { body, method } = request;
    const key = keyFor(request);
    return app.call(method, path, { ...(key && { key }), ...(body !== undefined && { body }) });
  }

  /** Sends every request once it is complete, and hands on what its answer has for others. */
  async function sendAll(): Promise<LinkedRequest[]> {
    const waiting = new Map(requestsOf(document).map((request) => [request.operationId, request]));
    const sent: LinkedRequest[] = [];
    for (let next = nextOf(waiting); next; next = nextOf(waiting)) {
      waiting.delete(next.operationId);
      const { status, text, json } = await sendUntilThere(next);
      assert.equal(status, next.status, `${next.method} ${next.path}: ${text}`);
      sent.push(next);
      for (const link of Object.values(next.links)) {
        const linked = waiting.get(link.operationId) ?? assert.fail(`${link.operationId} waits for its answer`);
        waiting.set(link.operationId, followed(link, linked, next, json));
      }
    }
    assert.deepEqual(
      [...waiting.values()].filter(({ method }) => method !== 'DELETE'),
      [],
    );
    return sent;
  }

  it('succeed as they stand, in an order where ids and nonces come from earlier answers, and change nothing dear', async () => {
    const dear = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const token = { key: keys.private ?? '', body: { id: 'dear', type: 'token', data: 'dear' } };
    await app.call('POST', '/tokens', token);
    const look = async () => {
      const self = await app.call('GET', '/tenants/self', { key: tenant.key });
      const application = await app.call('GET', `/applications/${dear.id}`, { key: tenant.key });
      const stored = await app.call('GET', '/tokens/dear', { key: keys.private ?? '' });
      const { modified_at: _, modified_by: __, ...kept } = self.json;
      return [kept, application.json, stored.json];
    };
    const earlier = await look();
    const sent = await sendAll();
    assert.ok(sent.filter(({ body }) => body !== undefined).length >= 12);
    assert.deepEqual(await look(), earlier);
    for (const key of [...Object.values(keys), dear.key]) {
      assert.equal((await app.call('GET', '/applications/key', { key })).status, 200);
    }
  });

  it('succeed a second time, as somebody sends them who looks around', async () => {
    await sendAll();
  });

  it('lead to no deletion: nothing fills in the id of what would be deleted', () => {
    const requests = requestsOf(document);
    const linked = requests.flatMap(({ links }) => Object.values(links).map(({ operationId }) => operationId));
    const deleting = requests.filter(({ method }) => method === 'DELETE').map(({ operationId }) => operationId);
    assert.ok(deleting.length >= 4);
    assert.deepEqual(
      deleting.filter((id) => linked.includes(id)),
      [],
    );
  });
});

/** Deletions are never sent: those without an id would end the tenant. */
function nextOf(waiting: ReadonlyMap<string, LinkedRequest>): LinkedRequest | undefined {
  return [...waiting.values()].find(({ isComplete, method }) => isComplete && method !== 'DELETE');
}
