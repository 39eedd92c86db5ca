import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readEngineRequest } from './engine-request.js';
import { decodeFrame, encodeFrame } from './frame.js';
import { readOutcome } from './outcome.js';

const anyFrame = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.jsonValue(), fc.uint8Array({ maxLength: 50 }))
    .map(([head, body]) => encodeFrame(head, Buffer.from(body))),
  fc
    .tuple(
      fc.record({
        outcome: fc.constantFrom('returned', 'thrown', 'invalid', 'ended', 7, null),
        console: fc.jsonValue(),
        errors: fc.jsonValue(),
        message: fc.jsonValue(),
        kind: fc.jsonValue(),
      }),
      fc.string(),
    )
    .map(([head, body]) => encodeFrame(head, Buffer.from(body))),
);

describe('frames', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.uint8Array(), (head, bytes) => {
        const frame = decodeFrame(encodeFrame(head, Buffer.from(bytes)));
        assert.deepEqual(frame?.head, JSON.parse(JSON.stringify(head)));
        assert.deepEqual(frame?.body, Buffer.from(bytes));
      }),
    );
  });

  it('may hold anything: what is no outcome is none, and an outcome is within its bounds', () => {
    fc.assert(
      fc.property(anyFrame, (bytes) => {
        const outcome = readOutcome(bytes);
        if (outcome === undefined) return;
        assert.ok(['returned', 'thrown', 'invalid'].includes(outcome.outcome));
        for (const line of 'console' in outcome ? outcome.console : [])
          assert.deepEqual([typeof line.level, typeof line.text], ['string', 'string']);
        if (outcome.outcome !== 'thrown') return;
        for (const messages of Object.values(outcome.errors)) {
          assert.ok(messages.every((message) => typeof message === 'string'));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('may hold anything: what is no request is none', () => {
    fc.assert(
      fc.property(anyFrame, (bytes) => {
        const found = readEngineRequest(bytes);
        assert.ok(found === undefined || (Number.isSafeInteger(found.id) && typeof found.request.url === 'string'));
      }),
      { numRuns: 2_000 },
    );
    const request = { id: 3, to: 'api', method: 'GET', url: 'http://api/', headers: [['a', 'b']] };
    assert.equal(readEngineRequest(encodeFrame(request, Buffer.alloc(0)))?.id, 3);
    for (const wrong of [
      { id: '3' },
      { to: 'loader' },
      { url: 7 },
      { headers: [['a']] },
      { headers: 'a' },
      { id: 0.5 },
    ]) {
      assert.equal(readEngineRequest(encodeFrame({ ...request, ...wrong }, Buffer.alloc(0))), undefined);
    }
  });

  it('with thousands of lines and errors are cut', () => {
    const console = Array.from({ length: 5_000 }, () => ({ level: 'log', text: 'x'.repeat(100) }));
    const errors = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`e${at}`, ['y'.repeat(20_000)]]));
    const outcome = readOutcome(encodeFrame({ outcome: 'thrown', console, errors }, Buffer.alloc(0)));
    assert.ok(outcome?.outcome === 'thrown');
    assert.ok(outcome.console.length <= 1_000 && Object.keys(outcome.errors).length <= 100);
    assert.ok(Object.values(outcome.errors).every(([message = '']) => message.length <= 10_000));
  });
});
