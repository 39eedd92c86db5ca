import assert from 'node:assert/strict';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from '../run/destination-fixture.js';
import { startDestination } from '../run/destination-fixture.js';

export const CARD_NUMBER = '4242424242424242';
export const MASKED = 'XXXXXXXXXXXX4242';
export const SECRET = 'canary-value-of-a-token-without-a-mask';

export interface PreviewAsked {
  readonly key?: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

export interface PreviewsWorld {
  readonly destination: TestDestination;
  readonly app: TestApp;
  readonly tenant: TestTenant;
  /** May read everything in the clear as well. */
  readonly key: string;
  readonly proxyId: string;
  readonly card: string;
  readonly unmasked: string;
  close(): Promise<void>;
}

/** A tenant with a Proxy and tokens, and a destination that must never be asked. */
export async function openPreviews(): Promise<PreviewsWorld> {
  const destination = await startDestination();
  const app = await startTestApp({ env: { ...destination.env, STRONGROOM_HEADER_PREFIXES: 'SVC,BT' } });
  const tenant = await app.makeTenant();
  const reveal = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] } as const;
  const key = await app.makeKey(tenant.id, 'private', ['token:create', 'token:use'], [reveal]);
  const opened = { destination, app, tenant, key };
  const { makeProxy, made } = previewCalls(() => ({ ...opened, proxyId: '', card: '', unmasked: '' }));
  return {
    ...opened,
    proxyId: await makeProxy(),
    card: await made({ type: 'card_number', data: CARD_NUMBER }),
    unmasked: await made({ data: SECRET }),
    async close() {
      assert.deepEqual(destination.seen, [], 'a preview was sent');
      await app.close();
      await destination.close();
    },
  };
}

/** What tests ask of a world that is opened before they run. */
export function previewCalls(world: () => Omit<PreviewsWorld, 'close'>) {
  const create = async (path: string, key: string, body: object): Promise<string> => {
    const { status, json, text } = await world().app.call('POST', path, { key, body });
    assert.equal(status, 201, text);
    return json.id;
  };
  const stored = ({ key = world().key, id = world().proxyId, ...body }: PreviewAsked) =>
    world().app.call('POST', `/proxies/${id}/preview`, { key, body: { method: 'POST', ...body } });
  const entries = async (query: string): Promise<{ message: string; entity_id: string; entity_type: string }[]> =>
    (await world().app.call('GET', `/logs?size=100&${query}`, { key: world().tenant.key })).json.data;
  return {
    makeProxy: (more: object = {}) =>
      create('/proxies', world().tenant.key, {
        ...{ name: 'P', destination_url: `${world().destination.named}/base` },
        ...more,
      }),
    made: (body: object, by = world().key) => create('/tokens', by, body),
    stored,
    ephemeral: ({ key = world().key, ...body }: PreviewAsked) =>
      world().app.call('POST', '/proxies/preview', {
        key,
        body: { method: 'POST', destination_url: world().destination.url, ...body },
      }),
    /** What the answer shows of a body. */
    async shown(body: unknown, by = world().key) {
      const { status, json, text } = await stored({ key: by, body });
      assert.equal(status, 200, text);
      return json;
    },
    entries,
    messages: async (id: string) => (await entries(`entity_id=${id}&operation=use`)).map(({ message }) => message),
  };
}
