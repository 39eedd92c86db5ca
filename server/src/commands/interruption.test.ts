import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { expectInterruption } from './interruption.js';

const SAME_WISH_MS = 1_000;

/** Whether this process would outlive the signal: without a listener it would not. */
const isHeard = (): boolean => process.listenerCount('SIGINT') > 0;

function begin(t: TestContext) {
  assert.equal(process.listenerCount('SIGINT'), 0);
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  let asked = 0;
  const interruption = expectInterruption(() => {
    asked += 1;
  });
  t.after(() => {
    process.removeAllListeners('SIGINT');
    process.removeAllListeners('SIGTERM');
  });
  return { interruption, asked: () => asked };
}

describe('interrupting a command', () => {
  it('a signal that comes with the first is the same wish, one that comes later ends the process', (t) => {
    const { interruption, asked } = begin(t);
    process.emit('SIGINT', 'SIGINT');
    t.mock.timers.tick(5);
    process.emit('SIGINT', 'SIGINT');
    assert.deepEqual([asked(), interruption.isAsked(), interruption.exitCode()], [1, true, 130]);
    t.mock.timers.tick(SAME_WISH_MS - 6);
    assert.ok(isHeard());
    t.mock.timers.tick(2);
    assert.ok(!isHeard());
  });

  it('what follows the stop is not ended by a signal that came with the first', (t) => {
    const { interruption } = begin(t);
    process.emit('SIGINT', 'SIGINT');
    interruption.close();
    assert.ok(isHeard());
    t.mock.timers.tick(SAME_WISH_MS + 1);
    assert.ok(!isHeard());
  });

  it('a command that was not interrupted leaves signals as they were', (t) => {
    begin(t).interruption.close();
    assert.ok(!isHeard());
  });
});
