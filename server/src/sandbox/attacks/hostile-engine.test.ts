// needs: processes

import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../kernel/clock.js';
import { encodeFrame } from '../engine/frame.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import type { AnswerEngine, RunOutcome } from '../run.js';
import { PLAIN_INPUT, plainCode } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';

const PROGRAM = fileURLToPath(new URL('./hostile-engine-program.js', import.meta.url));
/** For runs that have to end by their deadline. */
const SHORT_MS = 2_000;
/** For runs that end before it, however slow the machine is. */
const LONG_MS = 300_000;
const POLLS_MAX = 100;
const ASKED_MAX = 128;
const HEAD = 'HTTP/1.1 200 OK\r\n';
const REQUEST = encodeFrame(
  { id: 1, to: 'outside', method: 'GET', url: 'http://a.test/', headers: [] },
  Buffer.alloc(0),
);

interface Said {
  readonly said: string | Buffer;
  readonly isEndless?: true;
}

/** What it answers to a run with, and what becomes of the run. */
const ANSWERS: readonly (readonly [string, Said, readonly RunOutcome['outcome'][]])[] = [
  ['what is no HTTP', { said: '\0\xff{}\n\n' }, ['ended']],
  ['another protocol', { said: 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nx' }, ['ended']],
  ['less than it said', { said: `${HEAD}Content-Length: 9\r\n\r\nx` }, ['timeout']],
  ['two lengths', { said: `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx` }, ['ended']],
  ['a length below zero', { said: `${HEAD}Content-Length: -1\r\n\r\nx` }, ['ended']],
  [
    'a length and pieces',
    { said: `${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n` },
    ['ended'],
  ],
  ['a header without end', { said: `${HEAD}a: ${'b'.repeat(9_000)}`, isEndless: true }, ['ended']],
  ['answers before the answer, without end', { said: 'HTTP/1.1 103 X\r\n\r\n', isEndless: true }, ['timeout']],
  ['a body without end', { said: `${HEAD}\r\n${'x'.repeat(60_000)}`, isEndless: true }, ['too_large']],
  ['nothing', { said: '' }, ['timeout']],
  ['no body', { said: 'HTTP/1.1 204 X\r\n\r\n' }, ['ended']],
  ['a head longer than the frame', { said: `${HEAD}Content-Length: 6\r\n\r\n\xff\xff\xff\xff{}` }, ['ended']],
  ['two answers', { said: `${HEAD}Content-Length: 2\r\n\r\nok`.repeat(2) }, ['ended']],
];

describe('an engine that was taken over speaks to the host', () => {
  let base: string;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'strongroom-hostile-'));
    await writeFile(join(base, 'engine'), `#!${process.execPath}\nimport(${JSON.stringify(PROGRAM)});\n`);
    await chmod(join(base, 'engine'), 0o755);
  });
  after(() => rm(base, { recursive: true, force: true }));

  async function started(speech: Readonly<Record<string, Said>>, answer: AnswerEngine): Promise<EngineInstance> {
    const said = Object.entries(speech).map(([path, each]) => {
      const bytes = Buffer.isBuffer(each.said) ? each.said : Buffer.from(each.said, 'latin1');
      return [path, { said: bytes.toString('base64'), isEndless: each.isEndless === true }];
    });
    const wall: Wall = {
      abilities: { mode: 'flat', landlock: 0 },
      base,
      launcher: join(base, 'engine'),
      table: () => Buffer.from(JSON.stringify(Object.fromEntries(said))),
      look: async (pid) => ({ enginePid: pid, missing: undefined }),
      usualDataMiB: 768,
      limitData: () => {},
      dataOf: () => Promise.resolve(0),
      reasonIn: (written) => written.toString(),
      remove: () => Promise.resolve(),
    };
    const instance = new EngineInstance(wall, systemClock);
    await instance.start();
    await instance.load(plainCode(''), { aliases: {}, answer });
    return instance;
  }
  const run = (instance: EngineInstance, deadlineMs = LONG_MS): Promise<RunOutcome> =>
    instance.run(prepareRun(PLAIN_INPUT, []), { deadlineMs });
  const nobody: AnswerEngine = () => Promise.reject(new Error('nobody answers'));
  const waits = { '/out': { said: '' } };

  for (const [what, said, outcomes] of ANSWERS) {
    it(`${what}: ${outcomes.join(' or ')}, and the process is ended`, async (t) => {
      const instance = await started({ ...waits, '/run': said }, nobody);
      t.after(() => instance.kill());
      const { outcome } = await run(instance, outcomes.includes('timeout') ? SHORT_MS : LONG_MS);
      assert.ok(outcomes.includes(outcome), outcome);
      assert.equal(instance.isUsable, false);
      await instance.ended;
    });
  }

  it('that there is nothing to ask for, again and again: the host takes its time', async (t) => {
    const instance = await started({ '/out': { said: 'HTTP/1.1 204 X\r\n\r\n' } }, nobody);
    t.after(() => instance.kill());
    const outcome = await run(instance);
    assert.ok(outcome.outcome === 'returned' && Number(outcome.value) < POLLS_MAX, JSON.stringify(outcome));
    instance.kill();
    await instance.ended;
  });

  it('more requests at once than an engine has: the process is ended', async (t) => {
    let asked = 0;
    const said = Buffer.concat([Buffer.from(`${HEAD}Content-Length: ${REQUEST.length}\r\n\r\n`), REQUEST]);
    const instance = await started({ '/out': { said }, '/run': { said: '' } }, () => {
      asked += 1;
      return new Promise(() => {});
    });
    t.after(() => instance.kill());
    assert.equal((await run(instance)).outcome, 'ended');
    assert.ok(asked <= ASKED_MAX, `${asked}`);
    await instance.ended;
  });
});
