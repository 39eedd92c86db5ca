// needs: engine

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { EngineInstance } from './engine/instance.js';
import { prepareRun } from './engine/prepared-run.js';
import { dataLimitFor, makeMeasuredWall } from './measured-wall.js';
import { PLAIN_INPUT, plainCode } from './run-fixture.js';

const PAYLOAD_BYTES = 5_242_880;
/** A little less than it was given, for what is around it counts as well. */
const ECHO = 'module.exports = async (req) => ({ raw: req.args.slice(1000) });';
const RUNS = 3;
const LONG_MS = 60_000;

const fail = (error: unknown) => assert.fail(String(error));

describe('the limit on data', () => {
  it('leaves room for code beyond an engine without any, and stays a limit whatever was measured', () => {
    assert.equal(dataLimitFor(536.8), 757);
    assert.equal(dataLimitFor(161), 381, 'the room for compiled code is smaller on arm64');
    assert.deepEqual([dataLimitFor(0), dataLimitFor(100_000)], [256, 896]);
  });

  for (const isJitless of [false, true]) {
    const title = `lets arguments of 5,242,880 bytes in and out again ${isJitless ? 'without' : 'with'} a just-in-time compiler`;
    it(title, async (t) => {
      const wall = await makeMeasuredWall({ wall: { isJitless }, clock: systemClock, onFault: fail });
      t.after(() => wall.remove());
      const instance = new EngineInstance(wall, systemClock);
      t.after(() => instance.kill());
      await instance.start();
      await instance.load(plainCode(ECHO), { aliases: {}, answer: () => Promise.reject(new Error('none')) });
      // Of one large text, and of many small parts, which take far more as objects.
      const text = 'x'.repeat(PAYLOAD_BYTES - 2);
      const parts = Array.from({ length: Math.floor((PAYLOAD_BYTES - 2) / 110) }, (_, n) => ({
        n: `${1e8 + n}${'x'.repeat(92)}`,
      }));
      for (const args of [text, parts]) {
        const sent = JSON.stringify(args).length;
        assert.ok(sent <= PAYLOAD_BYTES && sent > PAYLOAD_BYTES * 0.9, String(sent));
        for (let run = 0; run < RUNS; run += 1) {
          const outcome = await instance.run(prepareRun({ ...PLAIN_INPUT, args }, []), { deadlineMs: LONG_MS });
          assert.equal(outcome.outcome, 'returned');
          const answer = JSON.stringify(outcome.outcome === 'returned' && outcome.value);
          assert.ok(answer.length > sent * 0.97, String(answer.length));
        }
      }
      instance.kill();
      await instance.ended;
    });
  }

  it('is that of the engine as it is known where a blank cannot be measured, and the operator hears of it', async (t) => {
    const faults: unknown[] = [];
    const clock = { nowMs: () => 0, monotonicMs: () => assert.fail('a clock that is broken') };
    const wall = await makeMeasuredWall({ clock, onFault: (error) => faults.push(error) });
    t.after(() => wall.remove());
    assert.equal(faults.length, 1);
    const instance = new EngineInstance(wall, systemClock);
    t.after(() => instance.kill());
    await instance.start();
    assert.ok(instance.isUsable);
    instance.kill();
    await instance.ended;
  });
});
