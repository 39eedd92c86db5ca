import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import type { AnswerEngine, CodeVersion, EngineAnswer, RunBounds, RunOrigin, RunOutcome } from '../run.js';
import { INSTANCE_NAME_LENGTH } from '../wall/base-folder.js';
import type { Wall } from '../wall/wall.js';
import { ROOT_FOLDER, SOCKET_PATH } from '../wall/wall-steps.js';
import { EngineCallError, EngineCalls } from './engine-calls.js';
import { readEngineRequest } from './engine-request.js';
import { encodeFrame } from './frame.js';
import { watchIdle } from './idle-watch.js';
import { readOutcome } from './outcome.js';
import type { PreparedRun } from './prepared-run.js';

export interface CodeLoading {
  /** Further names of modules. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly answer: AnswerEngine;
}

const MIB = 1024 * 1024;
/** What the frame around an answer of the specified size may take, with what was printed. */
const FRAME_BYTES = 256 * 1024;
const OUTPUT_BYTES_MAX = 5 * MIB + FRAME_BYTES;
const OUTBOUND_BYTES_MAX = 11 * MIB;
const SMALL_BYTES = 64 * 1024;
const READY_MS = 10_000;
const LOAD_MS = 10_000;
/** Longer than the engine lets the host wait for a request. */
const POLL_MS = 30_000;
const POLLS = 2;
const CHANNELS_MAX = 16;
const RETRY_MS = 2;
const NOTHING_MS = 50;
/** More requests at once than an engine of ours lets code have, with those whose answers are on their way. */
const OPEN_MAX = 128;
const WRITTEN_MAX = 4_096;

/** One process of the engine behind its wall: empty at first, then for one version of one tenant's code, until it ends. */
export class EngineInstance {
  readonly #wall: Wall;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #calls: EngineCalls;
  readonly #channel: EngineCalls;
  #child: ChildProcess | undefined;
  #written = Buffer.alloc(0);
  #outgoing = new AbortController();
  #origin: RunOrigin = { traceId: undefined, sourceAddress: undefined };
  #isRunning = false;
  #open = 0;
  #endWatch: () => void = () => {};
  #isEnded = false;
  #isKilled = false;
  #enginePid = 0;
  /** Resolves when the process is gone and its folder removed. */
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => {};

  constructor(wall: Wall, clock: Clock) {
    this.#wall = wall;
    this.#clock = clock;
    this.#folder = join(wall.base, newId().slice(0, INSTANCE_NAME_LENGTH));
    const socket = join(this.#folder, SOCKET_PATH);
    this.#calls = new EngineCalls(socket, 1);
    this.#channel = new EngineCalls(socket, CHANNELS_MAX);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Whether it can still be used: false from the moment on that it is told to end. */
  get isUsable(): boolean {
    return !this.#isEnded && !this.#isKilled;
  }

  /** The process that runs code; known once it has started. */
  get enginePid(): number {
    return this.#enginePid;
  }

  /** Throws the reason when it cannot be started, or when the wall around it is not the one that was asked for. */
  async start(): Promise<void> {
    try {
      await mkdir(join(this.#folder, 's'), { recursive: true, mode: 0o711 });
      await mkdir(join(this.#folder, ROOT_FOLDER), { mode: 0o711 });
      this.#spawn();
      await this.#untilReady();
      const { enginePid, missing } = await this.#wall.look(this.#child?.pid ?? 0);
      this.#enginePid = enginePid;
      if (missing !== undefined) throw new Error(`the wall is not whole: ${missing}`);
    } catch (error) {
      this.kill();
      if (this.#child === undefined) await this.#finish();
      throw error;
    }
  }

  /** Gives it the code it is for, once. */
  async load(code: CodeVersion, { aliases, answer }: CodeLoading): Promise<void> {
    const head = { hasClient: code.applicationId !== undefined, aliases };
    const { status } = await this.#calls.call('/load', encodeFrame(head, Buffer.from(code.code)), {
      deadlineMs: LOAD_MS,
      bytesMax: SMALL_BYTES,
    });
    if (status !== 200) throw new Error(`the engine did not take the code (${status})`);
    for (let poll = 0; poll < POLLS; poll += 1) void this.#carry(code, answer);
  }

  /** One run at a time. Only after `returned`, `thrown` and `invalid` it can be used again; else its process is ended. */
  async run({ body, origin }: PreparedRun, { deadlineMs, signal }: RunBounds): Promise<RunOutcome> {
    this.#origin = origin;
    this.#endWatch();
    this.#isRunning = true;
    try {
      const answer = await this.#calls.call('/run', body, { deadlineMs, bytesMax: OUTPUT_BYTES_MAX, signal });
      const outcome = readOutcome(answer.body) ?? { outcome: 'ended' };
      if (!('console' in outcome)) this.kill();
      return outcome;
    } catch (error) {
      this.kill();
      return { outcome: faultOf(error) };
    } finally {
      // What the code left behind is not waited for, asks for nothing more and does not go on for long.
      this.#isRunning = false;
      this.#endOutgoing();
      if (this.isUsable) this.#endWatch = watchIdle(this.#enginePid, () => this.kill());
    }
  }

  /** Aborting takes longer than all the rest of the end of a run, and most code asks for nothing. */
  #endOutgoing(): void {
    if (this.#open === 0) return;
    this.#outgoing.abort();
    this.#outgoing = new AbortController();
  }

  kill(): void {
    this.#isKilled = true;
    if (this.#isEnded || this.#child?.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }

  #spawn(): void {
    // In a group of its own, so that whatever it has started ends with it.
    const child = spawn(this.#wall.launcher, [], {
      cwd: this.#folder,
      env: {},
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    });
    this.#child = child;
    child.stdin?.on('error', () => {});
    child.stdin?.end(this.#wall.table());
    // Read to the end, kept only as much as a message needs.
    child.stderr?.on('data', (piece: Buffer) => {
      if (this.#written.length < WRITTEN_MAX) this.#written = Buffer.concat([this.#written, piece]);
    });
    child.once('error', (error) => {
      this.#written = Buffer.from(error.message);
      void this.#finish();
    });
    child.once('exit', () => void this.#finish());
  }

  async #finish(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#endWatch();
    this.#outgoing.abort();
    this.#calls.close();
    this.#channel.close();
    // One that cannot be removed now goes with the next start of the service.
    await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
    this.#resolveEnded();
  }

  async #untilReady(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + READY_MS;
    for (;;) {
      if (this.#isEnded) throw new Error(this.#wall.reasonIn(this.#written));
      try {
        await this.#calls.call('/ready', '', { deadlineMs: READY_MS, bytesMax: SMALL_BYTES });
        return;
      } catch (error) {
        if (this.#clock.monotonicMs() > untilMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Brings requests of the code to whoever answers them, and the answers back, until the process ends. */
  async #carry(code: CodeVersion, answer: AnswerEngine): Promise<void> {
    while (!this.#isEnded) {
      try {
        const options = { deadlineMs: POLL_MS, bytesMax: OUTBOUND_BYTES_MAX };
        const { status, body } = await this.#channel.call('/out', '', options);
        const found = status === 200 ? readEngineRequest(body) : undefined;
        const by = { code, origin: this.#origin };
        if (found && this.#open < OPEN_MAX) {
          void this.#answer(found.id, () => answer(by, found.request, this.#outgoing.signal));
        } else if (status === 204) {
          // Ours says so after a long while; one that was taken over may say so at once, again and again.
          await new Promise((resolve) => setTimeout(resolve, NOTHING_MS));
        } else {
          this.kill();
        }
      } catch (error) {
        // Its engine ended, or stands still; the deadline of the run decides.
        if (error instanceof EngineCallError && error.fault === 'deadline') continue;
        if (!this.#isEnded) this.kill();
      }
    }
  }

  /** Between runs nobody is asked: whatever the code left behind is not its caller's any more. */
  async #answer(id: number, ask: () => ReturnType<AnswerEngine>): Promise<void> {
    this.#open += 1;
    const { body, release, ...head }: EngineAnswer = this.#isRunning ? await ask().catch(() => FAILED) : FAILED;
    const options = { deadlineMs: POLL_MS, bytesMax: SMALL_BYTES };
    await this.#channel.call(`/in/${id}`, encodeFrame(head, body), options).catch(() => {});
    release?.();
    this.#open -= 1;
  }
}

const FAILED = { status: 502, headers: [], body: Buffer.alloc(0), failure: 'the request failed' };

function faultOf(error: unknown): 'timeout' | 'too_large' | 'ended' | 'aborted' {
  const fault = error instanceof EngineCallError ? error.fault : 'broken';
  if (fault === 'deadline') return 'timeout';
  return fault === 'broken' ? 'ended' : fault;
}
