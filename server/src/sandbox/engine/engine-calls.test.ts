import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { EngineCallError, EngineCalls } from './engine-calls.js';

it('an answer in very many small chunks fails before much of it is read', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-chunks-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const socketPath = join(folder, 's');
  let sent = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const more = (): void => {
        if (socket.destroyed) return;
        socket.write('1\r\nx\r\n'.repeat(500), () => setImmediate(more));
        sent += 500;
      };
      more();
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  t.after(() => server.close());
  const calls = new EngineCalls(socketPath, 1);
  t.after(() => calls.close());
  const asked = calls.call('/run', '', { deadlineMs: 60_000, bytesMax: 5_000_000 });
  await assert.rejects(asked, (error) => error instanceof EngineCallError && error.fault === 'too_large');
  assert.ok(sent < 100_000, `${sent} chunks`);
});
