// needs: account, engine

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { PLAIN_INPUT, plainCode } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';
import { makeWall } from '../wall/wall.js';
import { NICE } from '../wall/wall-steps.js';
import { EngineInstance } from './instance.js';
import { InputTooLargeError, prepareRun } from './prepared-run.js';

const LOADING = { aliases: {}, answer: () => Promise.reject(new Error('nobody answers')) };
const IS_ROOT = process.getuid?.() === 0;
const BOUNDS = { deadlineMs: 60_000 };

describe('a process of the engine', () => {
  let wall: Wall;
  before(async () => {
    wall = await makeWall();
  });
  after(() => wall.remove());

  async function started(code: string): Promise<EngineInstance> {
    const instance = new EngineInstance(wall, systemClock);
    await instance.start();
    await instance.load(plainCode(code), LOADING);
    return instance;
  }

  it('goes first when memory runs out, behind the API in turn, and with its folder', async () => {
    const instance = await started('module.exports = () => ({});');
    assert.equal(readFileSync(`/proc/${instance.enginePid}/oom_score_adj`, 'utf8').trim(), '1000');
    assert.equal(getPriority(instance.enginePid), NICE);
    if (IS_ROOT && existsSync('/proc/self/autogroup')) {
      assert.match(readFileSync(`/proc/${instance.enginePid}/autogroup`, 'utf8'), new RegExp(`nice ${NICE}$`, 'm'));
    }
    assert.equal(readdirSync(wall.base).length, 1);
    instance.kill();
    await instance.ended;
    assert.deepEqual(readdirSync(wall.base), []);
  });

  it('ends although its folder cannot be removed', async () => {
    const apart = await makeWall();
    const instance = new EngineInstance(apart, systemClock);
    await instance.start();
    await rename(apart.base, `${apart.base}-moved`);
    await writeFile(apart.base, 'in its place');
    instance.kill();
    await instance.ended;
    await rm(`${apart.base}-moved`, { recursive: true });
    await rm(apart.base);
  });

  it('gives up a run that nobody wants any more, and is not used again', async (t) => {
    const instance = await started('module.exports = () => new Promise(() => setInterval(() => {}, 1000));');
    t.after(() => instance.kill());
    const cancelling = new AbortController();
    const run = instance.run(prepareRun(PLAIN_INPUT, []), { ...BOUNDS, signal: cancelling.signal });
    cancelling.abort();
    assert.deepEqual(await run, { outcome: 'aborted' });
    assert.equal(instance.isUsable, false);
    const already = await started('module.exports = () => ({});');
    t.after(() => already.kill());
    const outcome = await already.run(prepareRun(PLAIN_INPUT, []), { ...BOUNDS, signal: cancelling.signal });
    assert.deepEqual(outcome, { outcome: 'aborted' });
  });

  it('takes arguments of 5 MiB and gives as much back', async (t) => {
    const instance = await started('module.exports = ({ args }) => args;');
    t.after(() => instance.kill());
    const args = 'x'.repeat(5 * 1024 * 1024 - 2);
    const outcome = await instance.run(prepareRun({ ...PLAIN_INPUT, args }, []), BOUNDS);
    assert.ok(outcome.outcome === 'returned' && outcome.value === args, outcome.outcome);
    const more = await instance.run(prepareRun({ ...PLAIN_INPUT, args: `${args}x` }, []), BOUNDS);
    assert.deepEqual([more, instance.isUsable], [{ outcome: 'too_large' }, false]);
    assert.throws(() => prepareRun({ ...PLAIN_INPUT, args: 'x'.repeat(8 * 1024 * 1024) }, []), InputTooLargeError);
  });
});
