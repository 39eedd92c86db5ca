import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { OutboundError } from '../../../outbound/outbound-error.js';
import { readPlainBody } from '../../../outbound/plain-body.js';
import { eventually } from '../../../testing/eventually.js';
import { destinationFailure } from './failure.js';
import { createWholeBytes, readWholeBody, WHOLE_BYTES_MAX } from './whole-body.js';

const PAST_FREE = Buffer.alloc(70_000, 'x');
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function* trickling(): AsyncGenerator<Buffer> {
  yield PAST_FREE;
  await new Promise(() => {});
}

/** A timer turned by hand. */
function handTimer() {
  const due: (() => void)[] = [];
  const after = (_ms: number, call: () => void) => {
    due.push(call);
    return () => {};
  };
  return { after, runOut: () => due.shift()?.() };
}

test('408 request_timeout for a request that trickles, and it held no more than a few times what came', async () => {
  const bytes = createWholeBytes();
  const share = bytes.open('a');
  const { after, runOut } = handTimer();
  const slow = assert.rejects(readWholeBody(trickling(), share, after), { code: 'request_timeout', status: 408 });
  await settle();
  assert.ok(bytes.taken() > 0 && bytes.taken() < 3 * PAST_FREE.length, `${bytes.taken()} bytes`);
  runOut();
  await slow;
  share.release();
  assert.equal(bytes.taken(), 0);
});

test('408 destination_timeout for an answer that trickles, and 413 for a request of more than 5 MiB', async () => {
  const bytes = createWholeBytes();
  const { after, runOut } = handTimer();
  const answer = { headers: [], body: trickling() };
  const slow = readPlainBody(answer, 'GET', bytes.open('a'), WHOLE_BYTES_MAX, after).catch(destinationFailure);
  await settle();
  assert.ok(bytes.taken() < 3 * PAST_FREE.length, `${bytes.taken()} bytes`);
  runOut();
  const { code, status } = (await slow) as unknown as { code: string; status: number }; // Compared below.
  assert.deepEqual([code, status], ['destination_timeout', 408]);
  const large = (async function* () {
    for (let count = 0; count < 100; count += 1) yield PAST_FREE;
  })();
  await assert.rejects(readWholeBody(large, bytes.open('b')), { code: 'payload_too_large' });
});

test('a compressed answer that unpacks to too much is left at once', async () => {
  const bomb = gzipSync(Buffer.alloc(3 * WHOLE_BYTES_MAX));
  let isLeft = false;
  async function* body() {
    try {
      yield bomb;
      await settle();
      for (;;) yield Buffer.alloc(1);
    } finally {
      isLeft = true;
    }
  }
  const share = createWholeBytes().open('a');
  const headers = [['Content-Encoding', 'gzip']] as const;
  const failed = readPlainBody({ headers, body: body() }, 'GET', share, WHOLE_BYTES_MAX);
  await assert.rejects(failed, (error) => error instanceof OutboundError && error.code === 'too_large');
  await eventually('the answer is left', () => isLeft);
});
