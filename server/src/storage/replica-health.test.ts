import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import type { ReplicaChange, ReplicaFault } from './replica-health.js';
import { createReplicaHealth } from './replica-health.js';

function patient(answers: (ReplicaFault | undefined)[]) {
  const clock = createFakeClock(0);
  const changes: ReplicaChange[] = [];
  let looks = 0;
  const health = createReplicaHealth({
    clock,
    onChange: (change) => changes.push(change),
    probe: async () => {
      looks += 1;
      return answers.shift();
    },
  });
  const look = async () => {
    health.look();
    await health.close();
  };
  return { clock, changes, health, look, looks: () => looks };
}

describe('the health of a replica', () => {
  it('nothing is read from it before somebody has looked, and looks do not overlap', async () => {
    const { health, look, looks, changes } = patient([undefined]);
    assert.equal(health.isServing(), false);
    health.look();
    health.look();
    await look();
    assert.deepEqual([health.isServing(), looks(), changes], [true, 1, [{ isServing: true }]]);
  });

  it('a dead one is looked at after 1, 2, 4 … 30 seconds, with one line for all of it', async () => {
    const { clock, health, look, looks, changes } = patient(Array.from({ length: 20 }, () => 'unreachable' as const));
    const rests: number[] = [];
    await look();
    for (let atMs = 0, seen = 1; rests.length < 8; atMs += 500) {
      await look();
      if (looks() > seen) {
        rests.push(atMs - rests.reduce((sum, ms) => sum + ms, 0));
        seen = looks();
      }
      clock.advance(500);
    }
    assert.deepEqual(rests, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    assert.deepEqual(changes, [{ isServing: false, reason: 'unreachable', restMs: 1_000 }]);
    assert.equal(health.isServing(), false);
  });

  it('many reads that fail of one cause count once; a flicker goes on doubling, a steady replica starts anew', async () => {
    const { clock, health, look, changes } = patient([]);
    const restOf = () => {
      health.fail('behind');
      health.fail('behind');
      const last = changes.at(-1);
      return last?.isServing === false ? last.restMs : assert.fail('it serves');
    };
    const rested: number[] = [];
    for (const servedMs of [0, 29_999, 0, 30_000, 5]) {
      await look();
      clock.advance(servedMs);
      const restMs = restOf();
      rested.push(restMs);
      clock.advance(restMs);
    }
    assert.deepEqual(rested, [1_000, 2_000, 4_000, 1_000, 2_000]);
    assert.equal(changes.length, 10);
  });
});
