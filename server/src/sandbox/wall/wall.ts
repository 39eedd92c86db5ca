import { rm } from 'node:fs/promises';
import type { BuiltEngine } from '@strongroom/engine/paths.js';
import { configurationName, findEngine } from '@strongroom/engine/paths.js';
import { makeBaseFolder } from './base-folder.js';
import type { WallAbilities } from './detect.js';
import { detectAbilities } from './detect.js';
import { needsOf } from './libraries.js';
import { NoWallError } from './no-wall-error.js';
import { dataMiBOf, enginePidOf, missingOf } from './read-back.js';
import type { WallLimits, WallOptions } from './wall-steps.js';
import { wallSteps } from './wall-steps.js';

export interface MakeWallOptions {
  /** In place of what the machine allows, to try a narrower one. */
  readonly abilities?: Partial<WallAbilities>;
  /** Without a just-in-time compiler in the engine. */
  readonly isJitless?: boolean;
}

/** What instances of the engine are started behind, as good as this machine allows. */
export interface Wall {
  readonly abilities: WallAbilities;
  /** The folder that instances have theirs in. */
  readonly base: string;
  readonly launcher: string;
  /** For the next instance. */
  table(): Buffer;
  /** How much private memory they may write to, for the engine as it is known. */
  readonly usualDataMiB: number;
  /** The same for instances from now on. */
  limitData(mib: number): void;
  /** How much of it a process of the engine has. */
  dataOf(enginePid: number): Promise<number>;
  /** Looks at a process we started: the engine in it, and what is missing of the wall; undefined where it is whole. */
  look(pid: number): Promise<{ readonly enginePid: number; readonly missing: string | undefined }>;
  /** Why a start failed, by what was written meanwhile. */
  reasonIn(written: Buffer): string;
  remove(): Promise<void>;
}

/** Users for engines that root starts; each instance another one, so that they cannot reach each other. */
const FIRST_UID = 61_000;
const UIDS = 500;
const LIMITS: WallLimits = { dataMiB: 768, descriptors: 256, processes: 32 };
const JITLESS_DATA_MIB = 288;
const REASON_MAX = 300;

/** Throws a `NoWallError` where none can be made. */
export async function makeWall(options: MakeWallOptions = {}): Promise<Wall> {
  const engine = findEngine();
  if (engine === undefined)
    throw new NoWallError('the engine runs on Linux on x64 and arm64 alone, and has to be built');
  const owner = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
  const abilities = { ...(await detectAbilities(engine, owner.uid)), ...options.abilities };
  if (abilities.mode === 'flat' && abilities.landlock === 0) {
    throw new NoWallError('this machine allows neither namespaces nor Landlock');
  }
  return createWall(engine, wallShape(engine, abilities, owner, options.isJitless), await makeBaseFolder());
}

/** Everything about a wall but whom the engine becomes. */
export function wallShape(
  engine: BuiltEngine,
  abilities: WallAbilities,
  owner: WallOptions['owner'],
  isJitless = false,
): Omit<WallOptions, 'becomes'> {
  return {
    ...engine,
    ...abilities,
    owner,
    needs: needsOf(engine.program, engine.arch),
    limits: isJitless ? { ...LIMITS, dataMiB: JITLESS_DATA_MIB } : LIMITS,
    args: (folder) => engineArgs(folder, isJitless),
  };
}

function createWall({ launcher, arch }: BuiltEngine, shape: Omit<WallOptions, 'becomes'>, base: string): Wall {
  const abilities: WallAbilities = { mode: shape.mode, landlock: shape.landlock };
  let { limits } = shape;
  const programOf = (id: number) => wallSteps({ ...shape, limits, becomes: { uid: id, gid: id } });
  // They differ in the user alone, and the same few are used again and again.
  const tables = new Map<number, Buffer>();
  let started = 0;
  return {
    abilities,
    base,
    launcher,
    table() {
      const id = FIRST_UID + (started % UIDS);
      started += 1;
      const table = tables.get(id) ?? programOf(id).encode(arch);
      tables.set(id, table);
      return table;
    },
    usualDataMiB: shape.limits.dataMiB,
    limitData(mib) {
      limits = { ...limits, dataMiB: mib };
      tables.clear();
    },
    dataOf: dataMiBOf,
    async look(pid) {
      const enginePid = await enginePidOf(abilities, pid);
      return { enginePid, missing: await missingOf(abilities, limits, pid, enginePid) };
    },
    reasonIn(written) {
      const step = programOf(FIRST_UID).failureIn(written);
      return step === undefined
        ? `the engine ended at its start: ${written.toString('utf8').slice(0, REASON_MAX)}`
        : `the wall could not be made: ${step}`;
    },
    // An instance that is just starting may write into it meanwhile. What is left goes with the next start of the service, and
    // nothing about it is worth a stop that fails.
    remove: () => rm(base, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}),
  };
}

function engineArgs(folder: string, isJitless: boolean): string[] {
  return ['serve', '--experimental', '-b', '--socket-fd=http=3', `${folder}/${configurationName(isJitless)}`];
}
