import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readEngineRequest } from './engine-request.js';
import { encodeFrame } from './frame.js';
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

interface FrameRuns {
  readonly numRuns: number;
  readonly seed?: number;
}

/** Whatever an engine sends: what is no outcome is none, and an outcome is within its bounds. */
export function checkOutcomes(runs: FrameRuns): void {
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
    runs,
  );
}

/** Whatever an engine sends: what is no request is none. */
export function checkRequests(runs: FrameRuns): void {
  fc.assert(
    fc.property(anyFrame, (bytes) => {
      const found = readEngineRequest(bytes);
      assert.ok(found === undefined || (Number.isSafeInteger(found.id) && typeof found.request.url === 'string'));
    }),
    runs,
  );
}
