import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEngine } from '@strongroom/engine/paths.js';
import { LauncherProgram } from '../launcher/program.js';
import { encodeFilter, IF_EQUAL, LOAD, RETURN } from '../wall/bpf.js';
import type { WallAbilities } from '../wall/detect.js';
import { wallShape } from '../wall/wall.js';
import { wallSteps } from '../wall/wall-steps.js';
import type { Bait, NativeProbe } from './native-probes-fixture.js';
import { unixAddress } from './native-probes-fixture.js';

/** A wall to try, and who starts it. */
export interface WallTrial {
  readonly name: string;
  readonly abilities: WallAbilities;
  readonly uid: number;
}

export interface ProbeResult {
  /** Every step worked. */
  readonly isEscape: boolean;
  /** What the launcher said otherwise. */
  readonly heldBy: string;
}

const ESCAPED = Buffer.from('ESCAPED!');
const PROBE_MAX_MS = 20_000;
const BECOMES = 61_499;

/** Things outside the wall that probes try to reach. */
export class NativeBench {
  readonly #folder: string;
  readonly #servers: readonly Server[];
  readonly #receiver: ChildProcess;
  readonly bait: Omit<Bait, 'folder'>;
  #probes = 0;

  private constructor(
    folder: string,
    { servers, receiver }: { readonly servers: readonly Server[]; readonly receiver: ChildProcess },
    bait: Omit<Bait, 'folder'>,
  ) {
    this.#folder = folder;
    this.#servers = servers;
    this.#receiver = receiver;
    this.bait = bait;
  }

  static async open(): Promise<NativeBench> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-native-'));
    await chmod(folder, 0o755);
    const secretFile = join(folder, 'secret');
    await writeFile(secretFile, 'secret', { mode: 0o666 });
    await chmod(secretFile, 0o666);
    const socketPath = join(folder, 'bait.sock');
    const abstractName = `strongroom-bait-${process.pid}`;
    const tcp = await listening(0);
    const address = tcp.address();
    const servers = [tcp, await listening(socketPath), await listening(`\0${abstractName}`)];
    await chmod(socketPath, 0o777);
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const datagramPath = join(folder, 'datagrams.sock');
    const receiver = await receiving(datagramPath);
    await chmod(datagramPath, 0o777);
    const bait = { pid: process.pid, secretFile, socketPath, abstractName, datagramPath, port };
    return new NativeBench(folder, { servers, receiver }, bait);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) server.close();
    this.#receiver.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Runs a probe behind the wall of a setting, or behind none; with a system call that the machine does not allow. */
  async run(
    probe: NativeProbe,
    setting: WallTrial | 'no wall',
    forbidden?: readonly [number, number],
  ): Promise<ProbeResult> {
    const engine = findEngine();
    if (!engine) throw new Error('the engine is not built');
    const cwd = await this.#makeFolder();
    // Never as root without a wall: what is tried here would be done.
    const uid = setting === 'no wall' ? ordinaryUser() : setting.uid;
    const instead = (program: LauncherProgram, folder: string): void => {
      for (const [call, args, options] of probe.steps({ ...this.bait, folder })) program.add(call, args, options);
      program.add('write', [2, ESCAPED, ESCAPED.length]).add('exit_group', [0]);
    };
    const program =
      setting === 'no wall'
        ? withoutWall((bare) => instead(bare, engine.folder))
        : wallSteps({
            ...wallShape(engine, setting.abilities, { uid, gid: uid }),
            becomes: { uid: BECOMES, gid: BECOMES },
            trial: {
              ...(forbidden && {
                before: (bare: LauncherProgram) => forbid(bare, forbidden[engine.arch === 'x64' ? 0 : 1]),
              }),
              instead: (walled) => instead(walled, setting.abilities.mode === 'flat' ? engine.folder : '/e'),
            },
          });
    const written = await launch(engine.launcher, program.encode(engine.arch), cwd, uid);
    await rm(cwd, { recursive: true, force: true });
    const isEscape = written.subarray(-ESCAPED.length).equals(ESCAPED);
    return {
      isEscape,
      heldBy: isEscape ? '' : (program.failureIn(written) ?? (written.toString('latin1') || 'killed')),
    };
  }

  async #makeFolder(): Promise<string> {
    this.#probes += 1;
    const cwd = join(this.#folder, String(this.#probes));
    for (const path of [cwd, join(cwd, 's'), join(cwd, 'root')]) {
      await mkdir(path);
      await chmod(path, 0o777);
    }
    return cwd;
  }
}

/** A process with a socket for single messages, which Node has none of; it takes them until it is ended. */
async function receiving(path: string): Promise<ChildProcess> {
  const engine = findEngine();
  if (!engine) throw new Error('the engine is not built');
  const again = { at: 0 };
  const program = new LauncherProgram()
    .add('close_range', [3, 0xffff_ffff, 0])
    .add('prctl', [1, 9, 0, 0, 0])
    .add('socket', [1, 2, 0])
    .add('bind', [3, unixAddress(path), 2 + path.length + 1])
    .add('write', [2, Buffer.from('.'), 1])
    .place(again)
    .add('read', [3, Buffer.alloc(64), 64], { branch: again });
  const child = spawn(engine.launcher, [], { env: {}, stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.end(program.encode(engine.arch));
  await once(child.stderr, 'data');
  return child;
}

const EPERM = 1;

/** As a container would that does not allow a system call. */
function forbid(program: LauncherProgram, number: number): void {
  const filter = encodeFilter([
    [LOAD, 0, 0, 0],
    [IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, 0x0005_0000 | EPERM],
    [RETURN, 0, 0, 0x7fff_0000],
  ]);
  program.add('prctl', [38, 1, 0, 0, 0]).add('seccomp', [1, 0, filter], { about: 'the filter of the test' });
}

/** An account every system has, where this process is root. */
export function ordinaryUser(): number {
  const own = process.getuid?.() ?? -1;
  return own === 0 ? 65_534 : own;
}

/** A descriptor 3 as behind a wall, and nothing that holds anybody. */
function withoutWall(add: (program: LauncherProgram) => void): LauncherProgram {
  const program = new LauncherProgram().add('close_range', [3, 0xffff_ffff, 0]).add('socket', [1, 1, 0]);
  add(program);
  return program;
}

function launch(launcher: string, table: Buffer, cwd: string, uid: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(launcher, [], {
      cwd,
      env: {},
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: PROBE_MAX_MS,
      killSignal: 'SIGKILL',
      ...(process.getuid?.() === 0 && uid !== 0 && { uid, gid: uid }),
    });
    const pieces: Buffer[] = [];
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    child.once('error', reject);
    child.once('close', () => resolve(Buffer.concat(pieces)));
    child.stdin.on('error', () => {});
    child.stdin.end(table);
  });
}

function listening(where: string | number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const done = (): void => resolve(server);
    if (typeof where === 'number') server.listen(where, '127.0.0.1', done);
    else server.listen(where, done);
  });
}
