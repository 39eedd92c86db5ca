// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeWall } from '../wall/wall.js';
import { inParallel } from './in-parallel-fixture.js';
import { TenantBench } from './tenant-bench-fixture.js';
import { itHolds } from './tenant-modes-fixture.js';
import { askingProbes, tenantProbes } from './tenant-probes-fixture.js';
import { tenantTricks } from './tenant-tricks-fixture.js';

const PROBES_MIN = 90;
const TRICKS_MIN = 40;
const HITS_WHERE_BELIEVED_MIN = 15;

describe('code that tries to get out', () => {
  let bench: TenantBench;
  before(async () => {
    bench = await TenantBench.open();
  });
  after(() => bench.close());

  itHolds('root', () => bench);
  itHolds('flat', () => bench);

  it('is of many kinds, each under a name of its own', () => {
    const [probes, tricks] = [tenantProbes(bench.bait), tenantTricks(bench.bait)];
    assert.ok(probes.length >= PROBES_MIN && tricks.length >= TRICKS_MIN, `${probes.length} and ${tricks.length}`);
    assert.equal(new Set([...probes, ...tricks].map(({ name }) => name)).size, probes.length + tricks.length);
  });

  it('gets far where the host believes it: the probes can hit', async (t) => {
    const wall = await makeWall();
    t.after(() => wall.remove());
    const chosen = [...askingProbes(bench.bait), ...tenantTricks(bench.bait)].filter(({ isRare }) => !isRare);
    const hits: string[] = [];
    await inParallel(chosen, async (probe) => {
      if ((await bench.escapesOf(wall, probe, 'believes')).length > 0) hits.push(probe.name);
    });
    assert.ok(hits.length >= HITS_WHERE_BELIEVED_MIN, `${hits.length} hits: ${hits.join(', ')}`);
  });
});
