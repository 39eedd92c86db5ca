import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readEngineRequest } from './engine-request.js';
import { decodeFrame, encodeFrame } from './frame.js';
import { checkOutcomes, checkRequests } from './frame-properties-fixture.js';
import { readOutcome } from './outcome.js';

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
    checkOutcomes({ numRuns: 2_000 });
  });

  it('may hold anything: what is no request is none', () => {
    checkRequests({ numRuns: 2_000 });
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

  it('nested too deep for whoever reads the value are an error of the code', () => {
    const deep = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    assert.equal(readOutcome(encodeFrame({ outcome: 'returned' }, deep(64)))?.outcome, 'returned');
    assert.equal(readOutcome(encodeFrame({ outcome: 'returned' }, deep(1_000_000)))?.outcome, 'thrown');
    const values = (count: number): Buffer => Buffer.from(`[${'1,'.repeat(count - 1)}1]`);
    assert.equal(readOutcome(encodeFrame({ outcome: 'returned' }, values(99_999)))?.outcome, 'returned');
    assert.equal(readOutcome(encodeFrame({ outcome: 'returned' }, values(100_001)))?.outcome, 'too_large');
  });

  it('with very many values in their head are too large, before they are parsed', () => {
    const list = (count: number): Buffer =>
      encodeFrame({ outcome: 'thrown', kind: 'x', response: Array(count).fill(1), console: [] }, Buffer.alloc(0));
    assert.equal(readOutcome(list(10_000))?.outcome, 'thrown');
    assert.equal(readOutcome(list(1_000_000))?.outcome, 'too_large');
    assert.equal(decodeFrame(list(1_000_000)), undefined);
    const forged = Buffer.concat([Buffer.from([0, 0x0f, 0x42, 0x40]), Buffer.from('['.repeat(1_000_000))]);
    assert.equal(decodeFrame(forged), undefined);
    assert.equal(readEngineRequest(list(1_000_000)), undefined);
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
