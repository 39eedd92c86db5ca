// needs: time

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { request as send } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { AppError } from '../../kernel/errors.js';
import { eventually } from '../../testing/eventually.js';
import type { RouteServer } from '../../testing/route-server.js';
import { startRouteServer } from '../../testing/route-server.js';
import type { Seen } from './stream-fixture.js';
import {
  answerOf,
  authenticate,
  base,
  keyed,
  LARGE,
  NOTHING_SEEN,
  PIECE,
  silent,
  streamRoutes,
  UNDER_WAY_MAX,
} from './stream-fixture.js';
import { defineStream } from './stream-route.js';

describe('the flow of a stream', () => {
  let server: RouteServer;
  const seen: Seen = { ...NOTHING_SEEN };
  const open: ClientRequest[] = [];
  before(async () => {
    server = await startRouteServer(streamRoutes(seen), { authenticate });
  });
  after(() => server.close());
  afterEach(() => {
    for (const each of open.splice(0)) each.destroy();
    Object.assign(seen, NOTHING_SEEN);
    server.faults.length = 0;
    server.answered.length = 0;
  });

  function start(method: string, path: string, headers: Record<string, string> = {}): ClientRequest {
    const sent = send({ port: server.port, method, path, headers, agent: false });
    sent.on('error', () => {});
    open.push(sent);
    return sent;
  }

  it('100 MB each way at once, with no more under way than the system and both ends keep for a moment', async () => {
    const sent = start('POST', '/echo', { 'Transfer-Encoding': 'chunked' });
    let written = 0;
    let read = 0;
    let underWayMax = 0;
    const writing = (async () => {
      for (; written < LARGE; written += PIECE.length) {
        if (!sent.write(PIECE)) await once(sent, 'drain');
        underWayMax = Math.max(underWayMax, written - read);
      }
      sent.end();
    })();
    const answer = await answerOf(sent);
    for await (const piece of answer) {
      read += piece.length;
      underWayMax = Math.max(underWayMax, seen.consumed - read);
    }
    await writing;
    assert.deepEqual([read, seen.consumed], [LARGE, LARGE]);
    assert.ok(underWayMax < UNDER_WAY_MAX, `${underWayMax} bytes were under way`);
    assert.deepEqual(server.faults, []);
  });

  it('a client that does not read stops the source, and gets everything once it reads', async () => {
    const answer = await answerOf(start('GET', '/source').end());
    answer.pause();
    // Other requests are served meanwhile; without a bound the source would be through long before.
    for (let times = 0; times < 100; times += 1) assert.equal((await server.call('GET', '/optional')).status, 200);
    assert.ok(seen.produced < UNDER_WAY_MAX, `${seen.produced} bytes were made`);
    let read = 0;
    for await (const piece of answer) read += piece.length;
    assert.deepEqual([read, seen.produced, seen.isSourceEnded], [LARGE, LARGE, true]);
  });

  it('pieces that flow in one turn leave together, up to 128 KiB, and the source is told when there is room again', async () => {
    const piece = Buffer.alloc(16_384, 'x');
    const taken: number[] = [];
    const own = await startRouteServer([
      defineStream({
        ...base,
        methods: ['GET'],
        path: '/flow',
        handle: () => ({
          status: 200,
          headers: [],
          body: async (sink) => {
            for (let turn = 0; turn < 3; turn += 1) {
              let pieces = 1;
              while (sink.write(piece)) pieces += 1;
              taken.push(pieces);
              await new Promise<void>((resolve) => sink.onRoom(resolve));
            }
          },
        }),
      }),
    ]);
    try {
      const { text } = await own.call('GET', '/flow');
      assert.deepEqual(taken, [8, 8, 8]);
      assert.equal(text.length, 3 * 8 * piece.length);
    } finally {
      await own.close();
    }
  });

  it('200 whole for each of 195 clients that read late, while others ask for more', async () => {
    const clients = 195;
    const piece = Buffer.alloc(65_000, 'x');
    let stalled = 0;
    let isEnough = false;
    let written = 0;
    const flows = defineStream({
      ...base,
      methods: ['GET'],
      path: '/flow',
      handle: () => ({
        status: 200,
        headers: [],
        body: async (sink) => {
          while (!isEnough) {
            written += piece.length;
            if (sink.write(piece)) continue;
            stalled += 1;
            await new Promise<void>((resolve) => sink.onRoom(resolve));
            stalled -= 1;
          }
        },
      }),
    });
    const own = await startRouteServer([flows, ...streamRoutes(seen)], { inFlightMax: 1_024 });
    try {
      const answers = await Promise.all(
        Array.from({ length: clients }, () => answerOf(send({ port: own.port, path: '/flow', agent: false }).end())),
      );
      for (const answer of answers) answer.pause();
      let before = -1;
      // Until what the systems keep for them is full, and then what the process does.
      await eventually('nobody takes anything any more', () => {
        const isFull = stalled === clients && before === written;
        before = written;
        return isFull;
      });
      const asked = await own.call('GET', '/any/x');
      assert.deepEqual([asked.status, asked.text.length], [207, PIECE.length]);
      isEnough = true;
      let read = 0;
      await Promise.all(
        answers.map(async (answer) => {
          for await (const part of answer) read += part.length;
        }),
      );
      assert.equal(read, written);
    } finally {
      await own.close();
    }
  });

  it('a handler that does not read stops the client', async () => {
    let resume = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const own = await startRouteServer([
      defineStream({
        ...base,
        methods: ['POST'],
        path: '/later',
        handle: async ({ body }) => {
          await waiting;
          for await (const piece of body) seen.consumed += piece.length;
          return { status: 204, headers: [] };
        },
      }),
    ]);
    try {
      const sent = send({ port: own.port, method: 'POST', path: '/later', agent: false });
      let written = 0;
      const writing = (async () => {
        for (; written < LARGE; written += PIECE.length) if (!sent.write(PIECE)) await once(sent, 'drain');
        sent.end();
      })();
      for (let times = 0; times < 100; times += 1) await own.call('GET', '/healthz');
      assert.ok(written < UNDER_WAY_MAX, `${written} bytes were taken`);
      resume();
      const answer = await answerOf(sent);
      answer.resume();
      await writing;
      assert.deepEqual([answer.statusCode, seen.consumed], [204, LARGE]);
    } finally {
      await own.close();
    }
  });

  it('ends the source and aborts the signal when the client leaves in the middle of the answer', async () => {
    const sent = start('GET', '/source').end();
    await once(await answerOf(sent), 'readable');
    sent.destroy();
    await eventually('the source is ended', () => seen.isSourceEnded);
    assert.ok(seen.produced < LARGE);
    await eventually('the request has its line', () => server.answered.includes('GET /source 200'));
    assert.deepEqual(server.faults, []);
  });

  it('ends also a source that is silent when the client leaves', async () => {
    const sent = start('GET', '/silent').end();
    await once(await answerOf(sent), 'data');
    sent.destroy();
    await eventually('the signal is aborted', () => seen.isAborted);
    await eventually('the request has its line', () => server.answered.includes('GET /silent 200'));
  });

  it('400 in the handler when the client leaves in the middle of the body', async () => {
    const sent = start('POST', '/sink', { 'Content-Length': '900000' });
    sent.write(PIECE);
    await eventually('something arrived', () => seen.consumed > 0);
    sent.destroy();
    await eventually('the handler was told', () => seen.failure !== undefined && seen.isAborted);
    assert.ok(seen.failure instanceof AppError && seen.failure.code === 'malformed_request');
    assert.deepEqual(server.faults, []);
  });

  it('408 when there is no answer in the time of the record, and the end of the connection when its body takes longer', async () => {
    const slow = await server.call('GET', '/slow');
    assert.deepEqual([slow.status, slow.json.code], [408, 'request_timeout']);
    const mute = await server.call('GET', '/mute-body');
    assert.deepEqual([mute.status, mute.json.code], [408, 'request_timeout'], 'no piece of its body in that time');
    const answer = await answerOf(start('GET', '/slow-body').end());
    await assert.rejects(async () => {
      for await (const piece of answer) assert.ok(piece.length > 0);
    }, /aborted/);
    assert.equal(seen.isAborted, true);
  });

  it('503 for more streams of one tenant than its part, and they have no places among the requests', async () => {
    const inFlightMax = 4;
    const own = await startRouteServer(
      [
        defineStream({
          ...keyed,
          methods: ['GET'],
          path: '/open',
          handle: (request) => ({ status: 200, headers: [], body: silent(request, seen) }),
        }),
      ],
      { inFlightMax },
    );
    const sent: ClientRequest[] = [];
    try {
      for (let count = 0; count < inFlightMax; count += 1) {
        const each = send({ port: own.port, path: '/open', headers: { 'SVC-API-KEY': 'x' }, agent: false }).end();
        each.on('error', () => {});
        sent.push(each);
        assert.equal((await answerOf(each)).statusCode, 200);
      }
      assert.equal(own.server.inFlight(), 0);
      assert.equal((await own.call('GET', '/open', { key: 'x' })).status, 503);
      sent[0]?.destroy();
      await eventually('a slot is free', async () => {
        const again = send({ port: own.port, path: '/open', headers: { 'SVC-API-KEY': 'x' }, agent: false }).end();
        again.on('error', () => {});
        sent.push(again);
        return (await answerOf(again)).statusCode === 200;
      });
    } finally {
      for (const each of sent) each.destroy();
      await own.close();
    }
  });

  it('an answer without an end ends itself when the server stops', async () => {
    const own = await startRouteServer(streamRoutes(seen));
    const answer = await answerOf(send({ port: own.port, path: '/tail', agent: false }).end());
    let heard = '';
    answer.setEncoding('latin1').on('data', (text) => {
      heard += text;
    });
    await eventually('it has begun', () => heard === 'begun');
    await Promise.all([own.close(), once(answer, 'end')]);
    assert.equal(heard, 'begunstopped');
  });
});
