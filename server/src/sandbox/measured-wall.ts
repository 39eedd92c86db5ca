import type { Clock } from '../kernel/clock.js';
import { EngineInstance } from './engine/instance.js';
import type { MakeWallOptions, Wall } from './wall/wall.js';
import { makeWall } from './wall/wall.js';

/**
 * What code may take beyond an engine without code: its heap, and arguments and an answer of the specified size in the copies
 * that are made of them on the way.
 */
const DATA_OF_CODE_MIB = 220;
/** An engine that counts for less or more than this is not the one we know; the limit stays one either way. */
const DATA_MIB = { min: 256, max: 896 };

export interface MeasuredWallOptions {
  readonly wall?: MakeWallOptions | undefined;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

/**
 * A wall whose limit on data fits the engine on this machine: V8 sets aside room for compiled code that counts as data, and how
 * much depends on processor, kernel and engine. Where it cannot be measured, the limit is that of the engine as we know it.
 */
export async function makeMeasuredWall({ wall: options, clock, onFault }: MeasuredWallOptions): Promise<Wall> {
  const wall = await makeWall(options);
  const { usualDataMiB } = wall;
  wall.limitData(DATA_MIB.max);
  try {
    wall.limitData(dataLimitFor(await measureBlank(wall, clock)));
  } catch (error) {
    wall.limitData(usualDataMiB);
    onFault(error);
  }
  return wall;
}

export function dataLimitFor(blankMiB: number): number {
  return Math.min(Math.max(Math.ceil(blankMiB) + DATA_OF_CODE_MIB, DATA_MIB.min), DATA_MIB.max);
}

async function measureBlank(wall: Wall, clock: Clock): Promise<number> {
  const instance = new EngineInstance(wall, clock);
  try {
    await instance.start();
    return await wall.dataOf(instance.enginePid);
  } finally {
    instance.kill();
    await instance.ended;
  }
}
