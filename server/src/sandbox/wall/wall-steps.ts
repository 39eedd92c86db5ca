import { dirname } from 'node:path';
import type { Arch } from '@strongroom/engine/launcher.js';
import type { Label } from '../launcher/program.js';
import { LauncherProgram } from '../launcher/program.js';
import type { PathRule } from './landlock.js';
import { PATH_ACCESS, restrictPaths } from './landlock.js';
import type { ProgramNeeds } from './libraries.js';
import type { WallMode } from './modes.js';
import { namespaceFlags } from './modes.js';
import { engineFilter } from './seccomp.js';
import { words32, words64 } from './words.js';

export interface WallLimits {
  /** Private memory that can be written to. */
  readonly dataMiB: number;
  readonly descriptors: number;
  /** Threads; counted in a user namespace only by newer kernels, undefined leaves it out. */
  readonly processes: number | undefined;
}

export interface WallOptions {
  readonly mode: WallMode;
  readonly arch: Arch;
  /** The program behind the wall, what it needs, and its arguments as it sees them. */
  readonly program: string;
  readonly needs: ProgramNeeds;
  /** What the engine is started with. */
  readonly args: (folder: string) => readonly string[];
  /** To try the wall itself: steps before it is made, and others in place of the engine's start. */
  readonly trial?: {
    readonly before?: (program: LauncherProgram) => void;
    readonly instead: (program: LauncherProgram) => void;
  };
  /** The folder it may read. */
  readonly folder: string;
  readonly limits: WallLimits;
  /** Version of Landlock, 0 where the kernel has none. */
  readonly landlock: number;
  /** Who starts it, and whom it becomes where that is root. */
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly becomes: { readonly uid: number; readonly gid: number };
}

/** Where the engine listens, below the working folder. */
export const SOCKET_PATH = 's/in.sock';
export const ROOT_FOLDER = 'root';

const AT_WORKING_FOLDER = -100;
const ANY_CHILD = -1;
const MOUNT = { readOnly: 1, noSuid: 2, noDevices: 4, bind: 4_096, recursive: 16_384, private: 1 << 18 } as const;
const MOUNT_ROOT = 'size=64k,nr_inodes=32,mode=0755';
const RECURSIVE = 0x8000;
const DETACH = 2;
const WRITE_ONLY = 1;
const CREATE = 0o100;
const READ_WRITE = 2;
const PR = { deathSignal: 1, noNewPrivileges: 38 } as const;
const SIGKILL = 9;
const CAPABILITY_VERSION = 0x2008_0522;
const LIMIT = { fileSize: 1, data: 2, core: 4, processes: 6, descriptors: 7, lockedMemory: 8, messages: 12 } as const;
/** Behind the API process, which goes first. */
export const NICE = 10;
const HOSTNAME = 'reactor';
const OUT_OF_MEMORY_FIRST = '1000';

/** Everything between the launcher's first instruction and the engine's, in order. What fails stops it. */
export function wallSteps(options: WallOptions): LauncherProgram {
  const { mode, owner } = options;
  const program = new LauncherProgram();
  const parent: Label = { at: 0 };
  options.trial?.before?.(program);
  openSocket(program);
  if (mode !== 'flat') {
    program.add('clone', [namespaceFlags(mode), 0, 0, 0, 0], { branch: parent, about: 'namespaces' });
    if (mode === 'user') mapUser(program, owner);
    buildRoot(program, options);
  }
  if (owner.uid === 0 && mode !== 'user') becomeNobody(program, options.becomes);
  dropPowers(program);
  setLimits(program, options);
  restrict(program, options);
  if (options.trial) options.trial.instead(program);
  else startEngine(program, options);
  if (mode !== 'flat') waitForChild(program.place(parent));
  return program;
}

/** The socket the engine listens on is made outside the wall: inside there is no way to make one. It becomes descriptor 3. */
function openSocket(program: LauncherProgram): void {
  const address = Buffer.alloc(110);
  address.writeUInt16LE(1, 0);
  address.write(SOCKET_PATH, 2);
  program
    .add('prctl', [PR.deathSignal, SIGKILL, 0, 0, 0], { about: 'end with the parent' })
    .add('close_range', [3, 0xffff_ffff, 0], { about: 'close inherited files' });
  // When the machine runs out of memory an engine goes first, and not the API.
  writeIfAllowed(program, '/proc/self/oom_score_adj', OUT_OF_MEMORY_FIRST);
  // Where the kernel shares processors between sessions first, the priority of a process counts only within its own.
  writeIfAllowed(program, '/proc/self/autogroup', String(NICE));
  program
    .add('openat', [AT_WORKING_FOLDER, '/dev/null', READ_WRITE], { about: 'open /dev/null' })
    .add('dup3', [3, 0, 0])
    .add('close', [3])
    .add('umask', [0o077])
    .add('socket', [1, 1, 0])
    .add('bind', [3, address, 2 + SOCKET_PATH.length + 1], { about: `bind ${SOCKET_PATH}` })
    .add('listen', [3, 64])
    .add('umask', [0o022]);
}

function writeIfAllowed(program: LauncherProgram, path: string, text: string): void {
  program
    .add('openat', [AT_WORKING_FOLDER, path, WRITE_ONLY], { mayFail: true })
    .add('write', [3, Buffer.from(text), text.length], { mayFail: true })
    .add('close', [3], { mayFail: true });
}

/** Inside the namespace it is nobody, outside whoever started it. */
function mapUser(program: LauncherProgram, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  for (const [path, text] of [
    ['/proc/self/setgroups', 'deny'],
    ['/proc/self/uid_map', `65534 ${uid} 1\n`],
    ['/proc/self/gid_map', `65534 ${gid} 1\n`],
  ] as const) {
    program.add('openat', [AT_WORKING_FOLDER, path, WRITE_ONLY], { about: `open ${path}` });
    program.add('write', [4, Buffer.from(text), text.length], { about: `write ${path}` });
    program.add('close', [4]);
  }
}

/** A root of its own with the program, its libraries and the folder, all of it read-only, and nothing else. */
function buildRoot(program: LauncherProgram, { needs, program: exe, folder }: WallOptions): void {
  const { noSuid, noDevices, readOnly, bind, recursive } = MOUNT;
  program
    .add('mount', [null, '/', null, recursive | MOUNT.private, 0], { about: 'private mounts' })
    .add('mount', ['tmpfs', ROOT_FOLDER, 'tmpfs', noSuid | noDevices, MOUNT_ROOT], { about: 'an empty root' });
  for (const name of ['l', 'e', dirname(needs.interpreter).slice(1)]) makeFolder(program, `${ROOT_FOLDER}/${name}`);
  bindFile(program, needs.interpreterFile, `${ROOT_FOLDER}${needs.interpreter}`);
  for (const { name, file } of needs.libraries) bindFile(program, file, `${ROOT_FOLDER}/l/${name}`);
  bindFile(program, exe, `${ROOT_FOLDER}/engine`);
  program
    .add('mount', [folder, `${ROOT_FOLDER}/e`, null, bind, 0], { about: 'the folder of the engine' })
    .add('chdir', [ROOT_FOLDER])
    .add('pivot_root', ['.', '.'], { about: 'pivot_root' })
    .add('umount2', ['.', DETACH], { about: 'detach the old root' })
    .add('chdir', ['/'])
    .add('mount_setattr', [AT_WORKING_FOLDER, '/', RECURSIVE, words64(readOnly | noSuid | noDevices, 0, 0, 0), 32], {
      about: 'a read-only root',
    })
    .add('sethostname', [HOSTNAME, HOSTNAME.length]);
}

function makeFolder(program: LauncherProgram, path: string): void {
  const parts = path.split('/');
  for (let length = 2; length <= parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    program.add('mkdirat', [AT_WORKING_FOLDER, folder, 0o755], { mayFail: true, about: `make ${folder}` });
  }
}

function bindFile(program: LauncherProgram, from: string, to: string): void {
  program
    .add('openat', [AT_WORKING_FOLDER, to, WRITE_ONLY | CREATE, 0o644], { about: `create ${to}` })
    .add('close', [4])
    .add('mount', [from, to, null, MOUNT.bind, 0], { about: `bind ${from}` });
}

function becomeNobody(program: LauncherProgram, { uid, gid }: WallOptions['becomes']): void {
  program
    .add('setgroups', [0, null], { about: 'setgroups' })
    .add('setresgid', [gid, gid, gid], { about: 'setresgid' })
    .add('setresuid', [uid, uid, uid], { about: 'setresuid' });
}

function dropPowers(program: LauncherProgram): void {
  program
    .add('prctl', [PR.noNewPrivileges, 1, 0, 0, 0], { about: 'no_new_privs' })
    .add('capset', [words32(CAPABILITY_VERSION, 0), words32(0, 0, 0, 0, 0, 0)], { about: 'drop capabilities' })
    .add('prctl', [PR.deathSignal, SIGKILL, 0, 0, 0], { about: 'end with the parent' })
    .add('setpriority', [0, 0, NICE], { mayFail: true, about: 'nice' });
}

function setLimits(program: LauncherProgram, { limits, mode }: WallOptions): void {
  const values: readonly (readonly [number, number | undefined])[] = [
    [LIMIT.data, limits.dataMiB * 1024 * 1024],
    [LIMIT.descriptors, limits.descriptors],
    [LIMIT.fileSize, 0],
    [LIMIT.core, 0],
    [LIMIT.lockedMemory, 0],
    [LIMIT.messages, 0],
    // Without namespaces it would count every process of the user.
    [LIMIT.processes, mode === 'flat' ? undefined : limits.processes],
  ];
  for (const [limit, value] of values) {
    if (value === undefined) continue;
    program.add('prlimit64', [0, limit, words64(value, value), 0], { about: `limit ${limit}` });
  }
}

function restrict(program: LauncherProgram, options: WallOptions): void {
  if (options.landlock > 0) restrictPaths(program, options.landlock, pathRules(options));
  program.add('seccomp', [1, 0, engineFilter(options.arch)], { about: 'filter of system calls' });
}

function pathRules(options: WallOptions): PathRule[] {
  const { needs, mode } = options;
  const { exe, folder } = pathsOf(options);
  const runs = PATH_ACCESS.execute | PATH_ACCESS.read;
  const interpreter = mode === 'flat' ? needs.interpreterFile : needs.interpreter;
  const libraries = needs.libraries.map(({ name, file }) => (mode === 'flat' ? file : `/l/${name}`));
  return [
    ...[exe, interpreter, ...libraries].map((path) => ({ path, access: runs })),
    { path: folder, access: PATH_ACCESS.read | PATH_ACCESS.list },
  ];
}

function startEngine(program: LauncherProgram, options: WallOptions): void {
  const { exe, folder } = pathsOf(options);
  const environment = options.mode === 'flat' ? [] : ['LD_LIBRARY_PATH=/l'];
  const args = [exe, ...options.args(folder)];
  program.add('execve', [exe, { pointers: args }, { pointers: environment }], { about: 'start of the engine' });
}

/** As they are seen behind the wall. */
function pathsOf({ mode, program, folder }: WallOptions): { readonly exe: string; readonly folder: string } {
  return mode === 'flat' ? { exe: program, folder } : { exe: '/engine', folder: '/e' };
}

/** The launcher itself stays outside the namespaces until the engine ends, and dies with whoever started it. */
function waitForChild(program: LauncherProgram): void {
  program
    .add('close', [3])
    .add('wait4', [ANY_CHILD, Buffer.alloc(16), 0, 0], { about: 'wait for the engine' })
    .add('exit_group', [0]);
}
