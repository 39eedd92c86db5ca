// needs: processes

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { test } from 'node:test';
import { lastFirst, temporaryFolder } from '../storage/embedded/embedded-fixture.js';
import { startServer } from './crash/child-server.js';
import { prepareFolder } from './crash/rounds.js';
import { createCaller } from './http-client.js';

const MEBIBYTE = 1_048_576;
const RESIDENT_MAX_MB = 350;
const CLIENTS_READING = 8;
const CLIENTS_SILENT = 8;
/** One long text, and as many values as a body may have: the second takes most memory once it is parsed. */
const LONG = 'x'.repeat(MEBIBYTE - 100);
const MANY = Array.from({ length: 9_000 }, (_, at) => `${at}`.padEnd(110, 'x'));
const TOKENS = [...Array.from({ length: 20 }, () => LONG), ...Array.from({ length: 4 }, () => MANY)];

/** The most memory a process ever had, as the system counted it. */
function peakMb(pid: number | undefined): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

test('16 clients that ask for 24 MiB at once, half of which never read it, do not take more memory than there is', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const [key = ''] = await prepareFolder(dataDir);
  const server = await startServer(dataDir, key);
  defer(() => void server.process.kill('SIGKILL'));
  const call = createCaller(server.baseUrl);
  const permissions = ['token:create', 'token:read'];
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
  const application = await call('POST', '/applications', { key, body: { name: 'Reader', type: 'private', rules } });
  const { key: reader } = application.json;
  for (const data of TOKENS) assert.equal((await call('POST', '/tokens', { key: reader, body: { data } })).status, 201);

  const { port } = new URL(server.baseUrl);
  const silent: Socket[] = [];
  defer(() => silent.forEach((socket) => void socket.destroy()));
  for (let clients = 0; clients < CLIENTS_SILENT; clients += 1) {
    const socket = connect(Number(port), '127.0.0.1').pause();
    socket.write(`GET /tokens?size=100 HTTP/1.1\r\nHost: h\r\nSVC-API-KEY: ${reader}\r\n\r\n`);
    silent.push(socket);
  }
  const pages = await Promise.all(
    Array.from({ length: CLIENTS_READING }, async () => {
      const { status, text } = await call('GET', '/tokens?size=100', { key: reader });
      return { status, length: text.length };
    }),
  );
  const whole = pages.filter(({ status }) => status === 200);
  assert.ok(whole.length > 0, 'some get their page');
  for (const { length } of whole) assert.ok(length > 20 * MEBIBYTE, `a page of ${length} characters`);
  assert.deepEqual(new Set(pages.map(({ status }) => status).filter((status) => status !== 200)), new Set([503]));
  const peak = peakMb(server.process.pid);
  assert.ok(peak < RESIDENT_MAX_MB, `${peak.toFixed(0)} MB`);
  t.diagnostic(`${peak.toFixed(0)} MB, ${whole.length} of ${pages.length} pages`);
  for (const socket of silent) socket.destroy();
  assert.equal(await server.end('SIGTERM'), 0);
});
