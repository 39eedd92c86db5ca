import { readdirSync } from 'node:fs';
import { arch } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../../kernel/clock.js';
import { eventually } from '../../testing/eventually.js';
import { checkOutcomes, checkRequests } from '../engine/frame-properties-fixture.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import { PLAIN_INPUT, plainCode } from '../run-fixture.js';
import type { WallMode } from '../wall/modes.js';
import type { Wall } from '../wall/wall.js';
import { makeWall } from '../wall/wall.js';
import { faultOfBomb, isProcessRunning } from './bombs-fixture.js';
import { inParallel } from './in-parallel-fixture.js';
import { LONG_BOMBS } from './long-bombs-fixture.js';
import { NativeBench } from './native-bench-fixture.js';
import { NATIVE_PROBES } from './native-probes-fixture.js';
import { NATIVE_TRICKS } from './native-tricks-fixture.js';
import { rounds } from './rounds-fixture.js';
import { TenantBench } from './tenant-bench-fixture.js';
import { tenantProbes } from './tenant-probes-fixture.js';
import { tenantTricks } from './tenant-tricks-fixture.js';

/**
 * The long form of the attacks, in every mode this process can make: every probe several times in random order. Prints what
 * it finds, and as its last line the rows of the table as JSON.
 */
interface Row {
  readonly mode: string;
  readonly suite: string;
  readonly probes: number;
  readonly escapes: readonly string[];
}

const FRAME_RUNS = 100_000;
const AT_ONCE = 4;
/** What is left over is looked for wherever instances were started. */
const COUNTED_WITH: Readonly<Record<string, readonly string[]>> = { leftovers: ['instances'] };
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string' },
    instances: { type: 'string' },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed ?? 1);
const count = Number(values.rounds ?? 1);
const instances = Number(values.instances ?? 1);
const uid = process.getuid?.() ?? -1;
const modes: readonly WallMode[] = uid === 0 ? ['root', 'flat'] : ['user', 'flat'];
const rows: Row[] = [];

/** Works through the items of a suite, and keeps what got through. */
async function suite<T extends { readonly name: string }>(
  place: { readonly mode: string; readonly suite: string },
  items: readonly T[],
  look: (item: T) => Promise<readonly string[]>,
): Promise<void> {
  if (values.only !== undefined && ![place.suite, ...(COUNTED_WITH[place.suite] ?? [])].includes(values.only)) return;
  const escapes: string[] = [];
  await inParallel(
    items,
    async (item) => {
      const found = await look(item).catch((error: unknown) => [`broke off: ${String(error)}`]);
      for (const each of found) {
        escapes.push(`${item.name}: ${each}`);
        process.stdout.write(`ESCAPE ${place.mode}, ${place.suite}, ${item.name}: ${each}\n`);
      }
    },
    AT_ONCE,
  );
  rows.push({ ...place, probes: items.length, escapes });
  process.stdout.write(`${place.mode}, ${place.suite}: ${items.length} probes, ${escapes.length} escapes\n`);
}

async function attack(mode: WallMode, wall: Wall): Promise<void> {
  const label = `${mode} (${uid === 0 ? 'root' : 'ordinary user'})`;
  const tenants = await TenantBench.open();
  const tenant = rounds([...tenantProbes(tenants.bait), ...tenantTricks(tenants.bait)], count, seed);
  await suite({ mode: label, suite: 'tenant' }, tenant, (probe) => tenants.escapesOf(wall, probe));
  if (tenants.visits.length > 0) rows.push({ mode: label, suite: 'visits', probes: 0, escapes: tenants.visits });
  await tenants.close();
  const bench = await NativeBench.open();
  const here = [...NATIVE_PROBES, ...NATIVE_TRICKS].filter(({ onlyOn }) => (onlyOn ?? arch()) === arch());
  const trial = { name: label, uid, abilities: wall.abilities };
  await suite({ mode: label, suite: 'native' }, rounds(here, count, seed), async (probe) =>
    (await bench.run(probe, trial)).isEscape ? ['every step worked'] : [],
  );
  await bench.close();
  await suite({ mode: label, suite: 'bombs' }, rounds(LONG_BOMBS, 1, seed), async (bomb) => {
    const fault = await faultOfBomb(wall, bomb);
    return fault === undefined ? [] : [fault];
  });
  await startAndEnd(label, wall);
}

/** Many instances, of which nothing may be left. */
async function startAndEnd(mode: string, wall: Wall): Promise<void> {
  const pids: number[] = [];
  const each = Array.from({ length: instances }, (_, index) => ({ name: `instance ${index}` }));
  const descriptors = openDescriptors();
  await suite({ mode, suite: 'instances' }, each, async () => {
    const instance = new EngineInstance(wall, systemClock);
    await instance.start();
    pids.push(instance.enginePid);
    await instance.load(plainCode('module.exports = async () => 7;'), { aliases: {}, answer: () => Promise.reject() });
    const { outcome } = await instance.run(prepareRun(PLAIN_INPUT, []), { deadlineMs: 60_000 });
    instance.kill();
    await instance.ended;
    return outcome === 'returned' ? [] : [outcome];
  });
  await suite({ mode, suite: 'leftovers' }, [{ name: 'afterwards' }], async () => {
    // The last of them may still be on their way out.
    await eventually('every process has ended', () => !pids.some(isProcessRunning));
    await eventually('no descriptor is left', () => openDescriptors() <= descriptors);
    return readdirSync(wall.base).map((name) => `folder ${name}`);
  });
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

process.stdout.write(`seed ${seed}\n`);
await suite({ mode: 'any', suite: 'frames' }, [{ name: 'outcomes' }, { name: 'requests' }], async ({ name }) => {
  const runs = { numRuns: FRAME_RUNS, seed };
  if (name === 'outcomes') checkOutcomes(runs);
  else checkRequests(runs);
  return [];
});
for (const mode of modes) {
  const wall = await makeWall({ abilities: { mode } }).catch((error: Error) => error.message);
  if (typeof wall === 'string') {
    process.stdout.write(`not run: ${mode} (${wall})\n`);
    continue;
  }
  await attack(mode, wall);
  await wall.remove();
}
process.stdout.write(`${JSON.stringify(rows.map(({ escapes, ...row }) => ({ ...row, escapes: escapes.length })))}\n`);
