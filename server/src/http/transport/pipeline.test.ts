import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { newId } from '../../kernel/ids.js';
import { exchange, message } from '../../testing/raw-http.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { createPipelines, PIPELINED_MAX } from './pipeline.js';

const HOST = 'Host: strongroom.test';
const JSON_TYPE = 'Content-Type: application/json';
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('pipelined requests', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp();
    const tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:create', 'token:read', 'token:delete']);
  });
  after(() => app.close());

  const withKey = (line: string) => message(line, HOST, `SVC-API-KEY: ${key}`);
  const create = (id: string) => {
    const body = JSON.stringify({ id, type: 'token', data: 'x' });
    return message('POST /tokens', HOST, `SVC-API-KEY: ${key}`, JSON_TYPE, `Content-Length: ${body.length}`) + body;
  };

  it('see what those before them changed: made, read, deleted, gone, made again', async () => {
    const id = newId();
    const [path, line] = [`/tokens/${id}`, create(id)];
    const sent = [line, withKey(`GET ${path}`), withKey(`DELETE ${path}`), withKey(`GET ${path}`), line];
    const answers = await exchange(app.port, sent.join(''), sent.length);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 204, 404, 201],
    );
  });

  for (const [count, line] of [
    [60, 'GET /healthz'],
    [60, 'GET /permissions'],
    [300, 'GET /nothing'],
  ] as const) {
    it(`every answer for a client that reads, of ${count} × ${line} in one write`, async () => {
      const sent = Array.from({ length: count }, () => withKey(line));
      const answers = await exchange(app.port, sent.join(''), count);
      assert.equal(answers.length, count);
      assert.equal(new Set(answers.map(({ status }) => status)).size, 1);
    });
  }

  it('503 for those beyond what waits on a connection, each in its place', async () => {
    const count = PIPELINED_MAX + 5;
    const sent = Array.from({ length: count }, () => create(newId()));
    const answers = await exchange(app.port, sent.join(''), count);
    const statuses = answers.map(({ status }) => status);
    const made = statuses.filter((status) => status === 201).length;
    assert.equal(statuses.length, count);
    assert.ok(made >= PIPELINED_MAX);
    assert.deepEqual(statuses, [...Array(made).fill(201), ...Array(count - made).fill(503)]);
  });

  it('run one after the other unless all under way are safe, in their order, each once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'), { maxLength: PIPELINED_MAX }),
        fc.infiniteStream(fc.nat()),
        async (methods, choices) => {
          const pipelines = createPipelines();
          const socket = new Socket();
          const begun: number[] = [];
          const running: number[] = [];
          methods.forEach((method, n) => {
            const request = { socket, method } as unknown as IncomingMessage; // All that is looked at.
            const run = () => {
              begun.push(n);
              running.push(n);
              const isChange = (each: number) => !['GET', 'HEAD'].includes(methods[each] ?? '');
              assert.ok(running.length === 1 || !running.some(isChange));
            };
            if (pipelines.startNow(request)) run();
            else assert.ok(pipelines.wait(request, run));
          });
          while (running.length > 0) {
            running.splice((choices.next().value ?? 0) % running.length, 1);
            pipelines.leave(socket);
            await settle();
          }
          assert.deepEqual(
            begun,
            methods.map((_, n) => n),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});
