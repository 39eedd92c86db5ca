// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { EngineInstance } from '../engine/instance.js';
import { makeMeasuredWall } from '../measured-wall.js';
import type { Wall } from '../wall/wall.js';
import { BOMB_INPUT, BOMBS, bombVersion, faultOfBomb, LONG_MS } from './bombs-fixture.js';

describe('code that takes too much or goes wrong', () => {
  let wall: Wall;
  before(async () => {
    wall = await makeMeasuredWall({ clock: systemClock, onFault: (error) => assert.fail(String(error)) });
  });
  after(() => wall.remove());

  for (const bomb of BOMBS) {
    it(`${bomb.name}: ${bomb.outcomes.join(' or ')}, within its bounds`, async () => {
      assert.equal(await faultOfBomb(wall, bomb), undefined);
    });
  }

  it('state stays between the calls of an instance, and what a call left behind does not run on', async (t) => {
    const instance = new EngineInstance(wall, systemClock);
    t.after(() => instance.kill());
    await instance.start();
    const code =
      'let n = 0; module.exports = async () => { setInterval(() => { n += 100; }, 1); n += 1; return { raw: n }; };';
    await instance.load(bombVersion(code), {
      aliases: {},
      answer: () => Promise.reject(new Error('none')),
    });
    const values = [];
    for (let call = 0; call < 3; call += 1) values.push(await instance.run(BOMB_INPUT, { deadlineMs: LONG_MS }));
    assert.deepEqual(
      values.map((outcome) => (outcome.outcome === 'returned' ? outcome.value : outcome)),
      [{ raw: 1 }, { raw: 2 }, { raw: 3 }],
    );
    instance.kill();
    await instance.ended;
  });
});
