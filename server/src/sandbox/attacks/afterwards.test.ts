// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { eventually } from '../../testing/eventually.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import type { AnswerEngine, RunOutcome } from '../run.js';
import { PLAIN_INPUT, plainCode } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';
import { makeWall } from '../wall/wall.js';

const DEADLINE_MS = 60_000;
const run = (instance: EngineInstance): Promise<RunOutcome> =>
  instance.run(prepareRun(PLAIN_INPUT, []), { deadlineMs: DEADLINE_MS });

/** The engine lets code go on after its answer, for as long as it likes. */
const goesOn = (body: string): string =>
  `module.exports = async () => { const { waitUntil } = await import('cloudflare:workers'); ${body} };`;

describe('what code does after its answer', () => {
  let wall: Wall;
  before(async () => {
    wall = await makeWall();
  });
  after(() => wall.remove());

  async function started(code: string, answer: AnswerEngine): Promise<EngineInstance> {
    const instance = new EngineInstance(wall, systemClock);
    await instance.start();
    await instance.load(plainCode(code), { aliases: {}, answer });
    return instance;
  }

  it('requests are refused, and nobody is asked for them', async (t) => {
    let isRunning = false;
    const late: string[] = [];
    const code = goesOn(`globalThis.refused ??= 0; if (globalThis.refused === 0) waitUntil((async () => {
      while (globalThis.refused === 0) { await fetch('https://example.test/').catch(() => { globalThis.refused += 1 }); await scheduler.wait(1) }
    })()); return { refused: globalThis.refused };`);
    const instance = await started(code, async (_by, { url }) => {
      if (!isRunning) late.push(url);
      return { status: 200, headers: [], body: Buffer.alloc(0) };
    });
    t.after(() => instance.kill());
    await eventually('a request is refused', async () => {
      isRunning = true;
      const outcome = await run(instance);
      isRunning = false;
      return outcome.outcome === 'returned' && (outcome.value as { refused: number }).refused > 0;
    });
    assert.deepEqual(late, []);
    instance.kill();
    await instance.ended;
  });

  for (const [what, loop] of [
    ['a loop', 'for (;;);'],
    ['a loop of small steps', 'for (;;) { await scheduler.wait(0); for (let i = 0; i < 1e7; i += 1); }'],
  ] as const) {
    it(`${what} ends its process, and an idle one stays`, async (t) => {
      const nobody: AnswerEngine = () => Promise.reject(new Error('nobody answers'));
      const idle = await started('module.exports = async () => 1;', nobody);
      const busy = await started(
        goesOn(`waitUntil((async () => { await scheduler.wait(10); ${loop} })()); return 1;`),
        nobody,
      );
      t.after(() => [idle, busy].map((each) => each.kill()));
      assert.equal((await run(idle)).outcome, 'returned');
      assert.equal((await run(busy)).outcome, 'returned');
      await busy.ended;
      assert.equal(busy.isUsable, false);
      assert.equal((await run(idle)).outcome, 'returned');
      idle.kill();
      await idle.ended;
    });
  }
});
