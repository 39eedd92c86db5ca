// needs: account, engine

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { arch } from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findEngine } from '@strongroom/engine/paths.js';
import { LauncherProgram } from '../launcher/program.js';
import type { Instruction } from '../wall/bpf.js';
import { encodeFilter, IF_ANY_BIT, IF_EQUAL, LOAD, RETURN } from '../wall/bpf.js';
import { detectAbilities } from '../wall/detect.js';
import { ordinaryUser } from './native-bench-fixture.js';

const PROGRAM = fileURLToPath(new URL('./wall-report-program.js', import.meta.url));
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;
const ALLOW = 0x7fff_0000;
const CLONE = 56;
const CLONE3 = 435;
const NAMESPACES = 0x7e02_0000;
/** What the usual profile of container runtimes refuses, as far as a wall could want it; numbers of x64. */
const MOUNTS = [165, 166, 155, 442, 428, 429, 430, 431, 432, 433];
const REFUSED = [...MOUNTS, 272, 308, 321, 298, 323, 425, 426, 427, 248, 249, 250];
const LANDLOCK = [444, 445, 446];

const engine = findEngine();
const skip = engine === undefined || arch() !== 'x64' ? 'the numbers are those of x64' : false;

describe('where containers allow less', { skip }, () => {
  for (const uid of [...new Set([process.getuid?.() ?? -1, ordinaryUser()])]) {
    const who = uid === 0 ? 'root' : 'an ordinary user';
    it(`code of ${who} runs behind the flat wall where no namespaces can be made`, async (t) => {
      if (!engine || (await detectAbilities(engine, uid)).landlock === 0) return t.skip('no Landlock here');
      const { state, outcome } = await report(REFUSED, uid);
      assert.deepEqual([state.isAvailable, state.mode], [true, 'flat']);
      assert.equal(outcome.outcome, 'returned');
    });

    it(`no code of ${who} runs where there is neither, and the reason is said`, async () => {
      const { state, outcome } = await report([...REFUSED, ...LANDLOCK], uid);
      assert.deepEqual(state, { isAvailable: false, reason: 'this machine allows neither namespaces nor Landlock' });
      assert.equal(outcome.outcome, 'SandboxUnavailable');
    });
  }
});

interface Report {
  readonly state: { readonly isAvailable: boolean; readonly mode?: string; readonly reason?: string };
  readonly outcome: { readonly outcome: string };
}

/** Starts the program under a filter, as a container runtime would. */
async function report(refused: readonly number[], uid: number): Promise<Report> {
  const filter = encodeFilter([
    [LOAD, 0, 0, 0],
    ...refused.flatMap((number): Instruction[] => [
      [IF_EQUAL, 0, 1, number],
      [RETURN, 0, 0, EPERM],
    ]),
    [IF_EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, ENOSYS],
    [IF_EQUAL, 0, 4, CLONE],
    [LOAD, 0, 0, 16],
    [IF_ANY_BIT, 0, 1, NAMESPACES],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, ALLOW],
  ]);
  const args = [process.execPath, PROGRAM];
  const program = new LauncherProgram()
    .add('prctl', [38, 1, 0, 0, 0])
    .add('seccomp', [1, 0, filter])
    .add('execve', [process.execPath, { pointers: args }, { pointers: ['PATH=/usr/bin:/bin', 'HOME=/nonexistent'] }]);
  const child = spawn(engine?.launcher ?? '', [], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(process.getuid?.() === 0 && uid !== 0 && { uid, gid: uid }),
  });
  child.stdin.end(program.encode('x64'));
  return JSON.parse(await text(child.stdout));
}
