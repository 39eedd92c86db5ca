import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Answer, Call, Problem, Sent } from './client.js';
import { createClient } from './client.js';
import type { Reference } from './compatibility-subject.js';
import { TOKEN_PERMISSIONS } from './vault.js';

interface Made {
  readonly id: string;
  readonly key: string;
}

interface List {
  readonly pagination: Partial<Record<string, unknown>>;
  readonly data: readonly Made[];
}

const EMPTY: Readonly<Record<string, Sent>> = {
  'no content type': {},
  'a form type and no body': { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  'a JSON type and no body': { headers: { 'Content-Type': 'application/json' } },
  'a JSON type and length 0': { raw: '', headers: { 'Content-Type': 'application/json' } },
  'an empty object': { body: {} },
};

/** What clients in other languages do to the wire, and the two packages here do not. */
export function tolerances(reference: () => Reference): void {
  const call: Call = (method, path, { key, ...sent } = {}) => {
    const headers = { ...(key !== undefined && { 'bt-api-key': key }), ...sent.headers };
    return createClient(reference().baseUrl)(method, path, { ...sent, headers });
  };

  describe('what clients of the reference API do besides', () => {
    let key: string;
    let owner: Made;
    let visitor: Made;
    const make = async (body: object): Promise<Made> => expect(await call('POST', '/applications', { key, body }), 201);
    const tokenOf = async (body: object): Promise<Made> =>
      expect(await call('POST', '/tokens', { key: owner.key, body }), 201);
    before(async () => {
      key = reference().managementKeys.nodeSdk;
      owner = await make({ name: 'Owner', type: 'private', permissions: TOKEN_PERMISSIONS });
      visitor = await make({ name: 'Visitor', type: 'public', permissions: ['token:create'] });
    });

    it('200 under the prefix of the client, which the answer uses too', async () => {
      const sent = { key, headers: { 'bt-trace-id': 'order-4711', 'BT-CLIENT-USER-AGENT': '{"client":"x"}' } };
      const { headers } = await call('GET', '/permissions', sent);
      assert.equal(headers.get('bt-trace-id'), 'order-4711');
      assert.equal(headers.get('svc-trace-id'), null);
      const refused = await call('GET', '/permissions', { headers: { 'BT-API-KEY': 'nonsense' } });
      const { status, trace_id } = refused.as<Problem>();
      assert.deepEqual([status, trace_id], [401, refused.headers.get('bt-trace-id')]);
      assert.equal(refused.headers.get('www-authenticate'), 'ApiKey realm="strongroom", header="BT-API-KEY"');
    });

    for (const [what, sent] of Object.entries(EMPTY)) {
      it(`takes a POST that needs no body with ${what}`, async () => {
        const { id } = await make({ name: 'Empty', type: 'public', permissions: ['token:create'] });
        expect(await call('POST', `/applications/${id}/regenerate`, { key, ...sent }), 200);
        expect(await call('POST', `/applications/${id}/keys`, { key, ...sent }), 201);
        expect(await call('POST', '/sessions/', { key: visitor.key, ...sent }), 201);
      });
    }

    it('200 for a slash before the query, on every list', async () => {
      for (const path of ['/logs/?size=5', '/applications/?size=5', '/permissions/?application_type=public']) {
        expect(await call('GET', path, { key }), 200);
      }
      expect(await call('GET', '/tokens/?size=5', { key: owner.key }), 200);
      expect(await call('GET', '/v2/tokens/?size=5', { key: owner.key }), 200);
    });

    it('200 for a token by its percent-encoded id', async () => {
      await tokenOf({ id: 'odd id:7', data: 1 });
      for (const path of ['/tokens/odd%20id%3A7', '/tokens/odd%20id:7']) {
        assert.equal(expect<Made>(await call('GET', path, { key: owner.key }), 200).id, 'odd id:7');
      }
    });

    it('200 for a metadata filter in each of its three spellings', async () => {
      const { id } = await tokenOf({ data: 1, metadata: { orderNumber: 'A-1' } });
      const json = encodeURIComponent('{"orderNumber":"a-1"}');
      for (const query of ['metadata.orderNumber=a-1', 'metadata[orderNumber]=A-1', `metadata=${json}`]) {
        for (const path of ['/tokens', '/v2/tokens']) {
          const { data } = expect<List>(await call('GET', `${path}?${query}`, { key: owner.key }), 200);
          assert.deepEqual(
            data.map((token) => token.id),
            [id],
            `${path}?${query}`,
          );
        }
      }
    });

    it('200 with both names of the cursor, and with neither at the end', async () => {
      const first = expect<List>(await call('GET', '/logs?size=1', { key }), 200);
      assert.equal(typeof first.pagination.after, 'string');
      assert.equal(first.pagination.next, first.pagination.after);
      const last = expect<List>(await call('GET', '/logs?size=1000', { key }), 200);
      assert.deepEqual(last.pagination, { page_size: 1000 });
    });

    it('201 for dates as they are written in the United States, in every body that has one', async () => {
      const written = { '12/31/2099': '2099-12-31T00:00', '7/4/2099 11:05 PM -02:30': '2099-07-05T01:35' };
      for (const [expires_at, read] of Object.entries(written)) {
        const made = [
          await call('POST', '/tokens', { key: owner.key, body: { data: 1, expires_at } }),
          await call('POST', '/applications', {
            key,
            body: { name: 'Dated', type: 'private', permissions: ['token:read'], expires_at },
          }),
        ];
        for (const answer of made) {
          const { expires_at: shown }: { expires_at: string } = expect(answer, 201);
          assert.ok(shown.startsWith(read), shown);
        }
      }
    });

    it('404 for resources that are not offered', async () => {
      for (const path of ['/reactor-formulas', '/transactions', '/webhooks']) {
        assert.equal((await call('GET', path, { key })).status, 404, path);
      }
    });
  });
}

function expect<T>(answer: Answer, status: number): T {
  assert.equal(answer.status, status, answer.text);
  return answer.as();
}
