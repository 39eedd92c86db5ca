import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { findEngine } from '@strongroom/engine/paths.js';
import { systemClock } from '../../kernel/clock.js';
import { eventually } from '../../testing/eventually.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import { makeMeasuredWall } from '../measured-wall.js';
import type { CodeVersion, RunOutcome } from '../run.js';
import { PLAIN_INPUT } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';

const INPUT = prepareRun({ ...PLAIN_INPUT, keepsConsole: true }, []);
const SOON_MS = 1_000;
const LONG_MS = 60_000;
const PEAK_MIB_MAX = 700;

interface Case {
  readonly name: string;
  readonly code: string;
  readonly deadlineMs?: number;
  readonly outcomes: readonly RunOutcome['outcome'][];
}

const endless = (name: string, code: string): Case => ({ name, code, deadlineMs: SOON_MS, outcomes: ['timeout'] });
/** Ends by an error of its own or by the end of its process, and never by taking more. */
const hungry = (name: string, body: string): Case => ({
  name,
  code: `module.exports = async () => { const kept = []; for (;;) { ${body} } };`,
  deadlineMs: LONG_MS,
  outcomes: ['thrown', 'ended'],
});
const returns = (name: string, code: string): Case => ({ name, code, deadlineMs: LONG_MS, outcomes: ['returned'] });

const CASES: readonly Case[] = [
  endless('a loop', 'module.exports = async () => { for (;;); };'),
  endless('a loop while it is loaded', 'for (;;);'),
  endless('a loop of promises', 'module.exports = async () => { for (;;) await 0; };'),
  endless(
    'a loop of timers',
    'module.exports = () => new Promise(() => { const next = () => setTimeout(next, 0); next(); });',
  ),
  endless('a hopeless expression', 'module.exports = async () => /^(a+)+$/.test("a".repeat(40) + "b");'),
  hungry('objects without end', 'kept.push(Array.from({ length: 1000 }, () => ({})));'),
  hungry('texts without end', 'kept.push(("x".repeat(1e6) + kept.length).split("").join(""));'),
  hungry('buffers without end', 'kept.push(new Uint8Array(16 << 20).fill(1));'),
  hungry('blobs without end', 'kept.push(new Blob([new Uint8Array(8 << 20).fill(1)]));'),
  hungry(
    'memory of wasm without end',
    'const memory = new WebAssembly.Memory({ initial: 256 }); new Uint8Array(memory.buffer).fill(1); kept.push(memory);',
  ),
  hungry(
    'files without end',
    'const fs = await import("node:fs"); fs.writeFileSync("/tmp/" + kept.length, Buffer.alloc(4 << 20, 1)); kept.push(0);',
  ),
  {
    name: 'recursion',
    code: 'module.exports = async () => { const deeper = () => deeper() + 1; return deeper(); };',
    deadlineMs: LONG_MS,
    outcomes: ['thrown'],
  },
  {
    name: '50 MB in answer',
    code: 'module.exports = async () => ({ raw: "x".repeat(5e7) });',
    deadlineMs: LONG_MS,
    outcomes: ['too_large', 'ended', 'thrown'],
  },
  {
    name: 'an answer in a circle',
    code: 'module.exports = async () => { const a = {}; a.a = a; return a; };',
    outcomes: ['thrown'],
  },
  { name: 'an answer with a BigInt', code: 'module.exports = async () => ({ a: 1n });', outcomes: ['thrown'] },
  returns('4.9 MB in answer', 'module.exports = async () => ({ raw: "x".repeat(4.9e6) });'),
  returns('no answer', 'module.exports = async () => {};'),
  returns(
    'a flood of lines',
    'module.exports = async () => { for (let i = 0; i < 1e5; i += 1) console.log("x".repeat(1000)); return 1; };',
  ),
  returns('a rejection nobody handles', 'module.exports = async () => { Promise.reject(new Error("x")); return 1; };'),
  returns(
    'prototypes made poisonous',
    'Object.prototype.status = 500; Object.prototype.outcome = "invalid"; module.exports = async () => ({ a: 1 });',
  ),
  { name: 'its own exit', code: 'module.exports = async () => process.exit(0);', outcomes: ['thrown', 'ended'] },
  { name: 'what does not compile', code: 'module.exports = async (req => {', outcomes: ['invalid'] },
  {
    name: 'a module that is not there',
    code: 'require("left-pad"); module.exports = async () => 1;',
    outcomes: ['invalid'],
  },
  { name: 'no function', code: 'module.exports = 7;', outcomes: ['invalid'] },
  { name: 'an error while it is loaded', code: 'throw new Error("boom");', outcomes: ['thrown'] },
  { name: 'null thrown', code: 'module.exports = async () => { throw null; };', outcomes: ['thrown'] },
];

describe('code that takes too much or goes wrong', {
  skip: findEngine() ? false : 'the engine does not run here',
}, () => {
  let wall: Wall;
  before(async () => {
    wall = await makeMeasuredWall({ clock: systemClock, onFault: (error) => assert.fail(String(error)) });
  });
  after(() => wall.remove());

  for (const { name, code, deadlineMs = LONG_MS, outcomes } of CASES) {
    it(`${name}: ${outcomes.join(' or ')}, within its bounds`, async (t) => {
      const instance = new EngineInstance(wall, systemClock);
      t.after(() => instance.kill());
      await instance.start();
      const peak = watchPeak(instance.enginePid);
      await instance.load(versionOf(code), {
        aliases: {},
        answer: () => Promise.reject(new Error('none')),
      });
      const outcome = await instance.run(INPUT, { deadlineMs });
      assert.ok(outcomes.includes(outcome.outcome), JSON.stringify(outcome).slice(0, 300));
      assert.ok(JSON.stringify(outcome).length < 6 * 1024 * 1024);
      assert.ok(peak() < PEAK_MIB_MAX, `${peak()} MiB`);
      const isUsable = ['returned', 'thrown', 'invalid'].includes(outcome.outcome);
      assert.equal(instance.isUsable, isUsable, 'what was told to end is not used again');
      instance.kill();
      await instance.ended;
      await eventually('the process is gone', () => !isRunning(instance.enginePid));
    });
  }

  it('state stays between the calls of an instance, and what a call left behind does not run on', async (t) => {
    const instance = new EngineInstance(wall, systemClock);
    t.after(() => instance.kill());
    await instance.start();
    const code =
      'let n = 0; module.exports = async () => { setInterval(() => { n += 100; }, 1); n += 1; return { raw: n }; };';
    await instance.load(versionOf(code), {
      aliases: {},
      answer: () => Promise.reject(new Error('none')),
    });
    const values = [];
    for (let call = 0; call < 3; call += 1) values.push(await instance.run(INPUT, { deadlineMs: LONG_MS }));
    assert.deepEqual(
      values.map((outcome) => (outcome.outcome === 'returned' ? outcome.value : outcome)),
      [{ raw: 1 }, { raw: 2 }, { raw: 3 }],
    );
    instance.kill();
    await instance.ended;
  });
});

function versionOf(code: string): CodeVersion {
  return { tenantId: 't', ownerId: 'o', version: '1', code, applicationId: undefined };
}

/** One that has ended stays in the list until somebody has asked how. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The most memory the process has had, as far as it was seen; the kernel keeps the peak itself. */
function watchPeak(pid: number): () => number {
  let peak = 0;
  const look = (): void => {
    try {
      const [, kib = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      peak = Math.max(peak, Number(kib) / 1024);
    } catch {
      clearInterval(timer);
    }
  };
  const timer = setInterval(look, 20);
  timer.unref();
  return () => {
    clearInterval(timer);
    return peak;
  };
}
