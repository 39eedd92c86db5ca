import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EndSignal, EndSource } from './end-signal.js';

/** The platform's own, which ours stands in for. */
function platform() {
  const controller = new AbortController();
  return { signal: controller.signal as EndSignal, abort: (reason: unknown) => controller.abort(reason) };
}

function ours() {
  const ending = new EndSource();
  return { signal: ending as EndSignal, abort: (reason: unknown) => ending.abort(reason) };
}

for (const [name, make] of Object.entries({ platform, ours })) {
  describe(`what may end once (${name})`, () => {
    const reason = new Error('over');

    it('tells every listener once, in their order, and keeps its first reason', () => {
      const { signal, abort } = make();
      const told: string[] = [];
      const first = () => void told.push('first');
      signal.addEventListener('abort', first);
      signal.addEventListener('abort', () => void told.push('second'));
      signal.addEventListener('abort', first);
      signal.throwIfAborted();
      assert.equal(signal.aborted, false);
      abort(reason);
      abort(new Error('again'));
      assert.deepEqual(told, ['first', 'second']);
      assert.equal(signal.aborted, true);
      assert.equal(signal.reason, reason);
      assert.throws(() => signal.throwIfAborted(), reason);
    });

    it('tells nobody who left, or who came behind the end', () => {
      const { signal, abort } = make();
      const told: string[] = [];
      const left = () => void told.push('left');
      signal.addEventListener('abort', left);
      signal.removeEventListener('abort', left);
      signal.removeEventListener('abort', left);
      abort(reason);
      signal.addEventListener('abort', () => void told.push('late'));
      assert.deepEqual(told, []);
    });

    it('a listener that leaves while others are told keeps nobody from being told', () => {
      const { signal, abort } = make();
      const told: string[] = [];
      const first = () => {
        told.push('first');
        signal.removeEventListener('abort', first);
      };
      signal.addEventListener('abort', first);
      signal.addEventListener('abort', () => void told.push('second'));
      abort(reason);
      assert.deepEqual(told, ['first', 'second']);
    });
  });
}
