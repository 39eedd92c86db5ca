import { spawn } from 'node:child_process';
import type { Arch } from '@strongroom/engine/launcher.js';
import type { LauncherProgram } from './program.js';

export interface LauncherEnd {
  /** Its exit status; undefined when it was ended by a signal. */
  readonly status: number | undefined;
  /** What it wrote when a step failed. */
  readonly written: Buffer;
}

const RUN_MAX_MS = 10_000;
const WRITTEN_MAX = 4_096;

/** Runs a short program to its end: what it finds out is its exit status. */
export function runLauncher(launcher: string, arch: Arch, program: LauncherProgram): Promise<LauncherEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(launcher, [], { env: {}, stdio: ['pipe', 'ignore', 'pipe'], timeout: RUN_MAX_MS });
    let written = Buffer.alloc(0);
    child.once('error', reject);
    child.stderr.on('data', (chunk: Buffer) => {
      written = Buffer.concat([written, chunk]).subarray(0, WRITTEN_MAX);
    });
    child.once('close', (status) => resolve({ status: status ?? undefined, written }));
    // It may be gone before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(program.encode(arch));
  });
}
