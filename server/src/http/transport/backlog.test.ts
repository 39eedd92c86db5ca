import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { createListener } from './listener.js';

/** The kernel's own list of connections: the second field is the local end, the third the other one, the fourth the state. */
const CONNECTIONS = '/proc/net/tcp';
const SYN_SENT = '02';
/** More than the platform would let wait. */
const AT_ONCE = 900;

describe('connections that come faster than they are accepted', () => {
  it('wait in the queue of the kernel, none is left unanswered', { skip: !existsSync(CONNECTIONS) }, async (t) => {
    const listener = createListener({ look: () => {}, receive: (_request, response) => response.end() });
    const port = await listener.listen('127.0.0.1', 0);
    const clients: Socket[] = [];
    t.after(async () => {
      for (const client of clients) client.destroy();
      await listener.close();
    });
    for (let opened = 0; opened < AT_ONCE; opened += 1) clients.push(connect(port, '127.0.0.1').on('error', () => {}));
    // Connecting begins with the next tick; nothing is accepted before this one, which comes after them, has ended.
    const waiting = await new Promise<number>((resolve) => process.nextTick(() => resolve(unansweredTo(port))));
    assert.equal(waiting, 0, `${waiting} of ${AT_ONCE} connections were dropped by the kernel`);
  });
});

/** Connections to a port that the kernel has not let into its queue. */
function unansweredTo(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const fields = readFileSync(CONNECTIONS, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return fields.filter(([, , other = '', state]) => other.endsWith(end) && state === SYN_SENT).length;
}
