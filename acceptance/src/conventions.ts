import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from './client.js';
import { assertProblem } from './client.js';
import type { Subject } from './subject.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function conventions(subject: () => Subject): void {
  const keys = () => subject().keys;
  const everyKind = (): Promise<Answer[]> => {
    const { call } = subject();
    return Promise.all([
      call('GET', '/tenants/self', { key: keys().readOnly }),
      call('OPTIONS', '/tenants/self'),
      call('GET', '/logs?size=0', { key: keys().readOnly }),
      call('GET', '/tenants/self'),
      call('GET', '/logs', { key: keys().public }),
      call('GET', '/nothing/here'),
      call('POST', '/tenants/self'),
    ]);
  };

  describe('every answer', () => {
    it('is not stored, not sniffed, open to any origin without credentials, and has a trace id', async () => {
      const answers = await everyKind();
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 204, 400, 401, 403, 404, 405],
      );
      for (const { headers } of answers) {
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        assert.equal(headers.get('access-control-allow-origin'), '*');
        assert.equal(headers.get('access-control-allow-credentials'), null);
        assert.match(headers.get('svc-trace-id') ?? '', UUID);
      }
    });

    it('repeats the trace id of the request, and makes one where that is no good', async () => {
      const ask = (id: string) => subject().call('GET', '/healthz', { headers: { 'SVC-TRACE-ID': id } });
      assert.equal((await ask('order-4711')).headers.get('svc-trace-id'), 'order-4711');
      for (const id of ['two words', 'x'.repeat(201)])
        assert.match((await ask(id)).headers.get('svc-trace-id') ?? '', UUID);
    });

    it('204 to a preflight without a key, with methods, the headers asked for and ten minutes', async () => {
      for (const path of [
        '/permissions',
        '/logs',
        '/logs/entity-types',
        '/tenants/self',
        '/tenants/self/reports/usage',
      ]) {
        const { status, headers } = await subject().call('OPTIONS', path, {
          headers: {
            Origin: 'https://shop.test',
            'Access-Control-Request-Method': 'GET',
            'Access-Control-Request-Headers': 'svc-api-key',
          },
        });
        assert.equal(status, 204, path);
        assert.ok(headers.get('access-control-allow-methods')?.split(', ').includes('GET'), path);
        assert.equal(headers.get('access-control-allow-headers'), 'svc-api-key');
        assert.equal(headers.get('access-control-max-age'), '600');
      }
    });

    it('404 for an unknown path, with or without a key, in the same words', async () => {
      const { call } = subject();
      const answers = [await call('GET', '/nothing'), await call('GET', '/nothing', { key: keys().management })];
      const [open, keyed] = answers.map((answer) => assertProblem(answer, 404, 'not_found'));
      assert.deepEqual({ ...open, trace_id: '' }, { ...keyed, trace_id: '' });
    });

    it('400 for broken percent-encoding in a path and in a query', async () => {
      const { call } = subject();
      assertProblem(await call('GET', '/tenants/%zz'), 400, 'malformed_request');
      assertProblem(await call('GET', '/logs?entity_id=%zz', { key: keys().readOnly }), 400, 'malformed_request');
    });

    it('200 for a percent-encoded spelling of a path', async () => {
      assert.equal((await subject().call('GET', '/tenants/%73elf', { key: keys().readOnly })).status, 200);
    });
  });
}
