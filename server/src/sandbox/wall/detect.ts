import type { BuiltEngine } from '@strongroom/engine/paths.js';
import type { Label } from '../launcher/program.js';
import { LauncherProgram } from '../launcher/program.js';
import { runLauncher } from '../launcher/run-launcher.js';
import type { WallMode } from './modes.js';
import { namespaceFlags } from './modes.js';

/** What this machine lets us build a wall of. */
export interface WallAbilities {
  readonly mode: WallMode;
  /** Version of Landlock; 0 where there is none. */
  readonly landlock: number;
}

const LANDLOCK_VERSION = 1;
/** Far above any version there is; above it stand the statuses of failure. */
const LANDLOCK_VERSIONS_MAX = 100;
const MOUNT_PRIVATE = 16_384 | (1 << 18);
const ANY_CHILD = -1;

/** Tries it: what a kernel, a container or an operator forbids cannot be known otherwise. */
export async function detectAbilities(engine: BuiltEngine, uid: number): Promise<WallAbilities> {
  const landlock = await landlockVersion(engine);
  // Root in a user namespace would still be root to the files outside.
  const mode = uid === 0 ? 'root' : 'user';
  return { mode: (await canMakeNamespaces(engine, mode)) ? mode : 'flat', landlock };
}

async function landlockVersion({ launcher, arch }: BuiltEngine): Promise<number> {
  const program = new LauncherProgram()
    .add('landlock_create_ruleset', [null, 0, LANDLOCK_VERSION], { mayFail: true, keepsResult: true })
    .add('exit_group', [0], { takesResult: true });
  const { status = 0 } = await runLauncher(launcher, arch, program);
  return status < LANDLOCK_VERSIONS_MAX ? status : 0;
}

async function canMakeNamespaces({ launcher, arch }: BuiltEngine, mode: 'root' | 'user'): Promise<boolean> {
  const parent: Label = { at: 0 };
  const program = new LauncherProgram()
    .add('clone', [namespaceFlags(mode), 0, 0, 0, 0], { branch: parent })
    .add('mount', [null, '/', null, MOUNT_PRIVATE, 0])
    .add('exit_group', [0])
    .place(parent)
    .add('wait4', [ANY_CHILD, Buffer.alloc(16), 0, 0])
    .add('exit_group', [0]);
  const { status, written } = await runLauncher(launcher, arch, program);
  // A child that fails says so on standard error, which it shares.
  return status === 0 && written.length === 0;
}
