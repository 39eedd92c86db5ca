import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WallMode } from '../wall/modes.js';
import { makeWall } from '../wall/wall.js';
import { inParallel } from './in-parallel-fixture.js';
import type { TenantBench } from './tenant-bench-fixture.js';
import { tenantProbes } from './tenant-probes-fixture.js';
import { tenantTricks } from './tenant-tricks-fixture.js';

const isRoot = process.getuid?.() === 0;
/** Why this process cannot make a wall. */
const REASONS: Readonly<Record<WallMode, string | false>> = {
  root: isRoot ? false : "needs root's rights",
  user: isRoot ? "needs an account without root's rights" : false,
  flat: false,
};

/** The test of one mode; skipped with the reason where it cannot be made. */
export function itHolds(mode: WallMode, benchOf: () => TenantBench): void {
  it(`sees nothing, writes nothing and reaches nobody, behind the wall ${mode}`, { skip: REASONS[mode] }, async (t) => {
    const wall = await makeWall({ abilities: { mode } }).catch((error: Error) => error.message);
    if (typeof wall === 'string') return t.skip(wall);
    t.after(() => wall.remove());
    const bench = benchOf();
    const escapes: string[] = [];
    await inParallel([...tenantProbes(bench.bait), ...tenantTricks(bench.bait)], async (probe) => {
      for (const found of await bench.escapesOf(wall, probe)) escapes.push(`${probe.name}: ${found}`);
    });
    assert.deepEqual(escapes, []);
    assert.deepEqual(bench.visits, []);
  });
}
