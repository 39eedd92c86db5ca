import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whatever a run makes on the machine, and the promise that all of it goes away, also after Ctrl-C. */
export interface Workshop {
  folder(): Promise<string>;
  /** Runs at the end, the last one first. What it returns does it now instead; it is done once either way. */
  defer(undo: () => Promise<void>): () => Promise<void>;
  /** A process of ours. It is ended politely, and after a while not politely. */
  spawn(args: readonly string[], options: SpawnOptions): { readonly child: ChildProcess; stop(): Promise<void> };
  close(): Promise<void>;
}

const KILL_AFTER_MS = 20_000;

export function createWorkshop(): Workshop {
  const undos: (() => Promise<void>)[] = [];
  let closing: Promise<void> | undefined;

  const workshop: Workshop = {
    async folder() {
      if (closing !== undefined) throw new Error('the run is over');
      const path = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
      workshop.defer(() => rm(path, { recursive: true, force: true, maxRetries: 3 }));
      return path;
    },
    defer(undo) {
      // Whatever still runs while everything is being removed must not make something new.
      if (closing !== undefined) throw new Error('the run is over');
      let done: Promise<void> | undefined;
      const once = (): Promise<void> => {
        done ??= undo();
        return done;
      };
      undos.push(once);
      return once;
    },
    spawn(args, options) {
      if (closing !== undefined) throw new Error('the run is over');
      const child = spawn(process.execPath, args, options);
      return { child, stop: workshop.defer(() => end(child)) };
    },
    close() {
      closing ??= undoAll(undos);
      return closing;
    },
  };
  return workshop;
}

async function undoAll(undos: (() => Promise<void>)[]): Promise<void> {
  for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
    // One that fails must not keep the others from being undone.
    await undo().catch((error: unknown) => process.stderr.write(`cleaning up: ${String(error)}\n`));
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
