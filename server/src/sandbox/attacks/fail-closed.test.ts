// needs: account, engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findEngine } from '@strongroom/engine/paths.js';
import { detectAbilities } from '../wall/detect.js';
import type { WallMode } from '../wall/modes.js';
import { NativeBench, ordinaryUser } from './native-bench-fixture.js';

/** Steps without which there is no wall: by name, their numbers for x64 and arm64, and the modes that need them. */
const NEEDED: readonly (readonly [string, readonly [number, number], readonly WallMode[]])[] = [
  ['prlimit64', [302, 261], ['root', 'user', 'flat']],
  ['capset', [126, 91], ['root', 'user', 'flat']],
  ['landlock_restrict_self', [446, 446], ['root', 'user', 'flat']],
  ['clone', [56, 220], ['root', 'user']],
  ['mount', [165, 40], ['root', 'user']],
  ['pivot_root', [155, 41], ['root', 'user']],
  ['umount2', [166, 39], ['root', 'user']],
  ['mount_setattr', [442, 442], ['root', 'user']],
  ['setresuid', [117, 147], ['root']],
  ['setresgid', [119, 149], ['root']],
  ['setgroups', [116, 159], ['root']],
  ['bind', [49, 200], ['root', 'user', 'flat']],
];

/** Does nothing: it comes through wherever the wall was made at all. */
const NOTHING = { name: 'nothing', steps: () => [] };
const engine = findEngine();

describe('a wall that cannot be made whole', () => {
  let bench: NativeBench;
  let landlock = 0;
  before(async () => {
    bench = await NativeBench.open();
    if (engine) ({ landlock } = await detectAbilities(engine, process.getuid?.() ?? -1));
  });
  after(() => bench.close());

  const isRoot = process.getuid?.() === 0;
  const modes = isRoot ? (['root', 'user', 'flat'] as const) : (['user', 'flat'] as const);
  for (const mode of modes) {
    const settingOf = () => ({
      name: mode,
      uid: mode === 'root' ? 0 : ordinaryUser(),
      abilities: { mode, landlock },
    });
    it(`is refused, whichever step of ${mode} is not allowed, and nothing is started`, async (t) => {
      const whole = await bench.run(NOTHING, settingOf());
      if (!whole.isEscape) return t.skip(`cannot be made here: ${whole.heldBy}`);
      for (const [name, numbers, needing] of NEEDED) {
        if (!needing.includes(mode)) continue;
        const { isEscape, heldBy } = await bench.run(NOTHING, settingOf(), numbers);
        assert.equal(isEscape, false, `${name} was not needed`);
        assert.match(heldBy, /\(errno 1\)/, name);
      }
    });
  }
});
