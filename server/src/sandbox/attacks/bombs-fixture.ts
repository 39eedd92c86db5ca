import { readFileSync } from 'node:fs';
import { systemClock } from '../../kernel/clock.js';
import { eventually } from '../../testing/eventually.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import type { CodeVersion, RunOutcome } from '../run.js';
import { PLAIN_INPUT } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';

export const BOMB_INPUT = prepareRun({ ...PLAIN_INPUT, keepsConsole: true }, []);
const SOON_MS = 1_000;
/** For code that ends before its deadline, however slow the machine is. */
export const LONG_MS = 300_000;
const PEAK_MIB_MAX = 700;
const OUTCOME_CHARACTERS_MAX = 6 * 1024 * 1024;

/** Code that takes too much or goes wrong, and what becomes of it. */
export interface Bomb {
  readonly name: string;
  readonly code: string;
  readonly deadlineMs?: number;
  readonly outcomes: readonly RunOutcome['outcome'][];
}

export const endless = (name: string, code: string): Bomb => ({
  name,
  code,
  deadlineMs: SOON_MS,
  outcomes: ['timeout'],
});
/** Ends by an error of its own or by the end of its process, and never by taking more. */
export const hungry = (name: string, body: string): Bomb => ({
  name,
  code: `module.exports = async () => { const kept = []; for (;;) { ${body} } };`,
  deadlineMs: LONG_MS,
  outcomes: ['thrown', 'ended'],
});
const returns = (name: string, code: string): Bomb => ({ name, code, deadlineMs: LONG_MS, outcomes: ['returned'] });

export const BOMBS: readonly Bomb[] = [
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

/** Runs it in an instance of its own; what was not as it should be, in words. */
export async function faultOfBomb(
  wall: Wall,
  { code, deadlineMs = LONG_MS, outcomes }: Bomb,
): Promise<string | undefined> {
  const instance = new EngineInstance(wall, systemClock);
  await instance.start();
  const peak = watchPeak(instance.enginePid);
  try {
    await instance.load(bombVersion(code), { aliases: {}, answer: () => Promise.reject(new Error('none')) });
    const outcome = await instance.run(BOMB_INPUT, { deadlineMs });
    const text = JSON.stringify(outcome);
    if (!outcomes.includes(outcome.outcome)) return text.slice(0, 300);
    if (text.length >= OUTCOME_CHARACTERS_MAX) return `${text.length} characters`;
    if (peak() >= PEAK_MIB_MAX) return `${peak()} MiB`;
    const isUsable = ['returned', 'thrown', 'invalid'].includes(outcome.outcome);
    return instance.isUsable === isUsable ? undefined : 'what was told to end is not used again';
  } finally {
    instance.kill();
    await instance.ended;
    await eventually('the process is gone', () => !isProcessRunning(instance.enginePid));
  }
}

export function bombVersion(code: string): CodeVersion {
  return { tenantId: 't', ownerId: 'o', version: '1', code, applicationId: undefined };
}

/** One that has ended stays in the list until somebody has asked how. */
export function isProcessRunning(pid: number): boolean {
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
