import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Machine } from './machine.js';
import type { Plot } from './plot.js';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Goal {
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** What one part found. */
export interface Findings {
  readonly tables: readonly Table[];
  readonly goals: readonly Goal[];
  readonly plots: readonly Plot[];
  readonly notes: readonly string[];
  /** Why it could not be measured on this machine. The page then keeps what it says. */
  readonly notRun?: string;
}

/** Says itself when and where it was measured, because parts are measured apart. */
export interface PartResult extends Findings {
  readonly date: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly isQuick: boolean;
  /** How long measuring took. */
  readonly seconds: number;
}

export type Results = Readonly<Record<string, PartResult>>;

export const NOTHING: Findings = { tables: [], goals: [], plots: [], notes: [] };

export async function readResults(path: string): Promise<Results> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  return JSON.parse(text);
}

export async function writeResults(path: string, results: Results): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
}
