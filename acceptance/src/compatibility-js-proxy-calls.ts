import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { BasisTheory } from '@basis-theory/basis-theory-js';
import { BasisTheoryApiError } from '@basis-theory/basis-theory-js/common/index.js';
import type { ProxyRequestOptions } from '@basis-theory/basis-theory-js/types/sdk/index.js';
import type { Destination, Received } from './compatibility-destination.js';
import { DECLINED } from './compatibility-destination.js';
import type { Reference } from './compatibility-subject.js';
import { given } from './compatibility-subject.js';

const CARD = '4242424242424242';
const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const TRACE = 'order-4711';
/** Where a stored Proxy of these tests leads. */
const BASE = '/v1';

type Method = (typeof METHODS)[number];
type Named = Pick<ProxyRequestOptions, 'headers' | 'query'>;

export function jsProxyCalls(
  management: () => BasisTheory,
  clientOf: (apiKey: string) => Promise<BasisTheory>,
  reference: () => Reference,
): void {
  describe('calls through a proxy', () => {
    let destination: Destination;
    let client: BasisTheory;
    let expression: string;
    /** What the destination must never see: keys of ours, and the name of the token. */
    let ours: readonly string[];
    let proxyKey: string;
    before(async () => {
      destination = given(reference().destination);
      const { applications, proxies } = management();
      const permissions = ['token:create', 'token:use'];
      const { key } = await applications.create({ name: 'Calls', type: 'private', permissions });
      client = await clientOf(given(key));
      const { id } = await client.tokens.create({ type: 'card_number', data: CARD });
      expression = `{{ ${id} }}`;
      const stored = await proxies.create({ name: 'Calls', destinationUrl: destination.namedUrl + BASE });
      proxyKey = stored.key;
      ours = [given(key), proxyKey, id];
    });

    const ephemeral = (): Named => ({ headers: { 'BT-PROXY-URL': destination.url } });
    const ways: Readonly<Record<string, { readonly base: string; readonly name: () => Named }>> = {
      'to an address': { base: '', name: ephemeral },
      'by the key of a stored proxy': { base: BASE, name: () => ({ headers: { 'BT-PROXY-KEY': proxyKey } }) },
      'by the key of a stored proxy in the query': {
        base: BASE,
        name: () => ({ query: { 'bt-proxy-key': proxyKey } }),
      },
    };
    const request = (name: Named): ProxyRequestOptions => ({
      path: '/charges',
      correlationId: TRACE,
      headers: { ...name.headers, 'X-Card': expression },
      query: { ...name.query, orderId: '7', card: expression },
      body: { cardNumber: expression, line_items: [{ unitPrice: 5 }] },
    });
    const last = (): Received => given(destination.received.at(-1));

    /** That the newest request has the plaintext wherever the expression stood, and nothing of ours but the trace id. */
    function assertReceived(method: Method, base: string): void {
      const { method: seen, url, headers, body } = last();
      const { pathname, searchParams } = new URL(url, destination.url);
      assert.deepEqual([seen, pathname], [method.toUpperCase(), `${base}/charges`]);
      assert.deepEqual(Object.fromEntries(searchParams), { orderId: '7', card: CARD });
      assert.equal(headers['x-card'], CARD);
      if (method === 'get' || method === 'delete') assert.equal(body, '');
      else assert.deepEqual(JSON.parse(body), { cardNumber: CARD, line_items: [{ unitPrice: 5 }] });
      assertNothingOfOurs();
    }

    function assertNothingOfOurs(): void {
      const { headers } = last();
      const prefixed = Object.entries(headers).filter(([name]) => /^(bt|svc)-/.test(name));
      assert.deepEqual(prefixed, [['bt-trace-id', TRACE]]);
      const text = decodeURIComponent(JSON.stringify(last()));
      for (const secret of ours) assert.ok(!text.includes(secret));
    }

    for (const [way, { base, name }] of Object.entries(ways)) {
      for (const method of METHODS) {
        it(`sends a ${method} ${way}, with the card in place of its token, and reads the answer as it was sent`, async () => {
          const before = destination.received.length;
          const answer: unknown = await client.proxy[method](request(name()));
          assert.deepEqual(answer, { order_number: before + 1 });
          assert.equal(destination.received.length, before + 1);
          assertReceived(method, base);
        });

        it(`sends a ${method} ${way} by the call that all methods share`, async () => {
          const before = destination.received.length;
          assert.deepEqual(await byMethod(client.proxy, method, request(name())), { order_number: before + 1 });
          assertReceived(method, base);
        });
      }

      it(`reads the headers of an answer too, ${way}`, async () => {
        const options = { ...request(name()), includeResponseHeaders: true };
        const { data, headers }: { data: unknown; headers: Readonly<Record<string, unknown>> } =
          await client.proxy.post(options);
        const number = destination.received.length;
        assert.deepEqual(data, { order_number: number });
        assert.equal(headers['x-order-number'], String(number));
        assert.equal(headers['bt-proxy-destination-status'], '200');
        assert.equal(headers['bt-trace-id'], TRACE);
        assert.equal(headers['set-cookie'], undefined);
        assertReceived('post', base);
      });
    }

    it('reaches the base address itself when a call names no path', async () => {
      for (const method of METHODS) {
        await client.proxy[method]({
          correlationId: TRACE,
          headers: { 'BT-PROXY-KEY': proxyKey, 'X-Card': expression },
        });
        assert.deepEqual([last().method, last().headers['x-card']], [method.toUpperCase(), CARD]);
        assert.equal(last().url.replace(/\/$/, ''), BASE);
        assertNothingOfOurs();
      }
    });

    it('reads a refusal of the destination as the destination wrote it', async () => {
      for (const method of METHODS) {
        const declined = client.proxy[method]({ ...request(ephemeral()), path: `${DECLINED.path}/1` });
        await assert.rejects(declined, (error) => {
          assert.ok(error instanceof BasisTheoryApiError, String(error));
          assert.deepEqual([error.status, error.data], [DECLINED.status, DECLINED.body]);
          return true;
        });
        assert.equal(last().headers['x-card'], CARD);
        assertNothingOfOurs();
      }
    });

    it('reads refusals of ours from proxy_error, and nothing is sent', async () => {
      const { key } = await management().applications.create({
        ...{ name: 'No use', type: 'private' as const, permissions: ['token:create'] },
      });
      const before = destination.received.length;
      const to = ephemeral();
      const unknownKey = `key_prx_${'0'.repeat(32)}`;
      const refused: readonly [number, string, ProxyRequestOptions][] = [
        [400, 'malformed_request', request({})],
        [400, 'unknown_token', { ...request(to), body: { card: `{{ ${UNKNOWN_ID} }}` } }],
        [401, 'invalid_api_key', { ...request(to), apiKey: proxyKey }],
        [403, 'permission_denied', { ...request(to), apiKey: given(key) }],
        [404, 'not_found', request({ headers: { 'BT-PROXY-KEY': unknownKey } })],
        [422, 'destination_refused', request({ headers: { 'BT-PROXY-URL': 'https://127.0.0.1:1' } })],
      ];
      for (const [status, code, options] of refused) {
        await assert.rejects(client.proxy.post(options), (error) => isProxyError(error, status, code));
      }
      assert.equal(destination.received.length, before);
    });
  });
}

/** A call that the package has and its types call private; the five others go through it, unseen from outside. */
async function byMethod(proxy: object, method: Method, options: ProxyRequestOptions): Promise<unknown> {
  const call: unknown = Reflect.get(proxy, 'proxyRequest');
  assert.ok(typeof call === 'function');
  return await Reflect.apply(call, proxy, [method, options]);
}

function isProxyError(error: unknown, status: number, code: string): boolean {
  assert.ok(error instanceof BasisTheoryApiError, String(error));
  const { proxy_error: problem }: { proxy_error?: Partial<Record<string, unknown>> } = Object(error.data);
  assert.deepEqual([error.status, problem?.status, problem?.code], [status, status, code], JSON.stringify(error.data));
  assert.match(String(problem?.detail), /\S/);
  return true;
}
