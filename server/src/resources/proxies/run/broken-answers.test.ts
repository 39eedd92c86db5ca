import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import { callRaw } from './canaries-fixture.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const LENGTH = 1_000_000;

describe('an answer that breaks off behind its first bytes', () => {
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let manager: string;
  let key: string;
  before(async () => {
    destination = await startDestination();
    app = await startTestApp({ env: destination.env });
    tenant = await app.makeTenant();
    manager = await app.makeKey(tenant.id, 'management', ['proxy:create', 'proxy:read']);
    key = await app.makeKey(tenant.id, 'private', ['token:use']);
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  /** Sends some of a long answer, waits until the client has it, and then does what is told. */
  async function brokenCall(then: (response: ServerResponse) => void, headers: Record<string, string | number>) {
    const body = { name: 'Reports', destination_url: destination.named };
    const proxy = (await app.call('POST', '/proxies', { key: manager, body })).json;
    destination.answers.set('/report', (response) => {
      response.writeHead(200, headers);
      response.write(Buffer.alloc(100_000, 'x'), () => then(response));
    });
    const ours = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxy.key };
    const answer = await callRaw(app.port, '/proxy/report', { method: 'GET', headers: ours });
    const logged = async () =>
      (await app.call('GET', `/logs?entity_id=${proxy.id}&operation=use`, { key: tenant.key })).json.data.map(
        ({ message }: { message: string }) => message,
      );
    const total = async () => (await app.call('GET', `/proxies/${proxy.id}/metrics`, { key: manager })).json.total;
    return { answer, logged, total };
  }

  const BREAKS: Readonly<
    Record<string, readonly [(response: ServerResponse) => void, Record<string, string | number>]>
  > = {
    'the connection ends before its length': [(response) => response.socket?.end(), { 'Content-Length': LENGTH }],
    'it is reset between its chunks': [(response) => response.socket?.destroy(), {}],
    'its chunks are none': [(response) => response.socket?.write('zz\r\n'), {}],
  };
  for (const [what, [then, headers]] of Object.entries(BREAKS)) {
    it(`${what}: the client sees it, the log has it, and so have the figures`, async () => {
      const { answer, logged, total } = await brokenCall(then, headers);
      assert.deepEqual([answer.status, answer.isWhole], [200, false]);
      assert.deepEqual(await logged(), ['Proxy invocation failed', 'Proxy invoked']);
      await eventually('it is counted', async () => (await total()).calls === 1);
      assert.deepEqual((await total()).errors, { destination_failed: 1 });
    });
  }

  it('one that comes whole has no such entry, and is counted once', async () => {
    const { answer, logged, total } = await brokenCall((response) => response.end(), {});
    assert.deepEqual([answer.status, answer.isWhole, answer.text.length], [200, true, 100_000]);
    assert.deepEqual(await logged(), ['Proxy invoked']);
    await eventually('it is counted', async () => (await total()).calls === 1);
    assert.deepEqual((await total()).errors, {});
  });
});
