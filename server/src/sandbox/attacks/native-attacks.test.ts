// needs: account, engine

import assert from 'node:assert/strict';
import { arch } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { findEngine } from '@strongroom/engine/paths.js';
import { detectAbilities } from '../wall/detect.js';
import type { ProbeResult, WallTrial } from './native-bench-fixture.js';
import { NativeBench, ordinaryUser } from './native-bench-fixture.js';
import type { NativeProbe } from './native-probes-fixture.js';
import { NATIVE_PROBES } from './native-probes-fixture.js';
import { NATIVE_TRICKS } from './native-tricks-fixture.js';

const AT_ONCE = 4;
const HITS_WITHOUT_WALL_MIN = 30;
const TRICKS_MIN = 40;
/** Some need a kernel that has them. */
const TRICK_HITS_WITHOUT_WALL_MIN = 40;
const engine = findEngine();
const isRoot = process.getuid?.() === 0;
const here = ({ onlyOn }: NativeProbe): boolean => onlyOn === undefined || onlyOn === arch();
const probes = [...NATIVE_PROBES, ...NATIVE_TRICKS].filter(here);

describe('system calls in the place of the engine', () => {
  let bench: NativeBench;
  let landlock = 0;
  before(async () => {
    bench = await NativeBench.open();
    if (engine) ({ landlock } = await detectAbilities(engine, process.getuid?.() ?? -1));
  });
  after(() => bench.close());

  const settings: readonly (Omit<WallTrial, 'abilities'> & { readonly mode: 'root' | 'user' | 'flat' })[] = [
    ...(isRoot ? ([{ name: 'root, with namespaces', mode: 'root', uid: 0 }] as const) : []),
    ...(isRoot ? ([{ name: 'root, without namespaces', mode: 'flat', uid: 0 }] as const) : []),
    { name: 'an ordinary user, with namespaces', mode: 'user', uid: ordinaryUser() },
    { name: 'an ordinary user, without namespaces', mode: 'flat', uid: ordinaryUser() },
  ];
  for (const { name, mode, uid } of settings) {
    it(`reach nothing behind the wall of ${name}`, async (t) => {
      if (mode === 'flat' && landlock === 0) return t.skip('no Landlock on this machine');
      const setting = { name, uid, abilities: { mode, landlock } };
      const alive = await bench.run(CONTROL, setting);
      if (!alive.isEscape && mode !== 'flat') return t.skip(`no namespaces here: ${alive.heldBy}`);
      assert.ok(alive.isEscape, `what is allowed does not work: ${alive.heldBy}`);
      const results = await runAll(bench, setting);
      assert.deepEqual(
        results.flatMap(([probe, { isEscape }]) => (isEscape ? probe.name : [])),
        [],
      );
    });
  }

  it('are of many kinds, each under a name of its own', () => {
    assert.ok(NATIVE_TRICKS.length >= TRICKS_MIN, `${NATIVE_TRICKS.length} tricks`);
    const all = [...NATIVE_PROBES, ...NATIVE_TRICKS];
    assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  });

  for (const [what, chosen, hitsMin] of [
    ['probes', NATIVE_PROBES, HITS_WITHOUT_WALL_MIN],
    ['tricks', NATIVE_TRICKS, TRICK_HITS_WITHOUT_WALL_MIN],
  ] as const) {
    it(`reach much without a wall: the ${what} can hit`, async () => {
      const harmless = chosen.filter(here).filter(({ isRare }) => !isRare);
      const results = await runAll(bench, 'no wall', harmless);
      const missed = results.flatMap(([probe, { isEscape, heldBy }]) => (isEscape ? [] : `${probe.name}: ${heldBy}`));
      const hits = harmless.length - missed.length;
      assert.ok(hits >= hitsMin, `${hits} hits; missed: ${missed.join(', ')}`);
    });
  }
});

/** What every engine may do: read its configuration. Shows that the wall was made and that a probe can come through. */
const CONTROL: NativeProbe = {
  name: 'read the configuration',
  steps: ({ folder }) => [['openat', [-100, `${folder}/config.bin`, 0]]],
};

async function runAll(
  bench: NativeBench,
  setting: WallTrial | 'no wall',
  chosen: readonly NativeProbe[] = probes,
): Promise<(readonly [NativeProbe, ProbeResult])[]> {
  const results: (readonly [NativeProbe, ProbeResult])[] = [];
  const left = [...chosen];
  const work = async (): Promise<void> => {
    for (let probe = left.shift(); probe; probe = left.shift()) results.push([probe, await bench.run(probe, setting)]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
