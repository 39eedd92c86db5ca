import type { Arch } from '@strongroom/engine/launcher.js';
import { TABLE_ADDRESS, TABLE_BYTES_MAX } from '@strongroom/engine/launcher.js';
import type { SystemCall } from './system-calls.js';
import { numberOf } from './system-calls.js';

/**
 * An argument of a system call: a number; a text that ends in a zero byte; bytes; a list of pointers to such, which ends in a
 * null pointer; or bytes with a pointer to other bytes written into them.
 */
export type Argument =
  | number
  | bigint
  | string
  | Buffer
  | null
  | { readonly pointers: readonly string[] }
  | { readonly bytes: Buffer; readonly pointerAt: number; readonly to: Buffer };

export interface StepOptions {
  /** What it is for, for the message when it fails. */
  readonly about?: string;
  /** A failure is no reason to stop. */
  readonly mayFail?: true;
  /** Its result is kept for a later step. */
  readonly keepsResult?: true;
  /** Its first argument is the result that was kept. */
  readonly takesResult?: true;
  /** Where a result above zero leads; by default to the next step. */
  readonly branch?: Label;
}

/** A place in the program that is known later. */
export interface Label {
  at: number;
}

interface Step {
  readonly call: SystemCall;
  readonly args: readonly Argument[];
  readonly options: StepOptions;
}

const ENTRY_BYTES = 64;
const ALIGNMENT = 16;
const POINTER_BYTES = 8;
const FLAGS_AT = 56;
const BRANCH_AT = 60;
const FLAG = { mayFail: 1, takesResult: 2, keepsResult: 4, branch: 8 } as const;

/** System calls for the launcher, in the order in which it makes them. */
export class LauncherProgram {
  readonly #steps: Step[] = [];

  add(call: SystemCall, args: readonly Argument[], options: StepOptions = {}): this {
    this.#steps.push({ call, args, options });
    return this;
  }

  /** The next step is where the label leads. */
  place(label: Label): this {
    label.at = this.#steps.length;
    return this;
  }

  /** What the launcher reads: a table with an entry for each step, and behind it what its pointers lead to. */
  encode(arch: Arch): Buffer {
    const table = Buffer.alloc(this.#steps.length * ENTRY_BYTES);
    const data = new PointedData(table);
    for (const [index, { call, args, options }] of this.#steps.entries()) {
      const at = index * ENTRY_BYTES;
      table.writeBigUInt64LE(BigInt(numberOf(call, arch)), at);
      for (const [place, argument] of args.entries()) {
        table.writeBigUInt64LE(data.valueOf(argument), at + (1 + place) * POINTER_BYTES);
      }
      table.writeUInt32LE(flagsOf(options), at + FLAGS_AT);
      table.writeUInt32LE(options.branch?.at ?? 0, at + BRANCH_AT);
    }
    return data.whole();
  }

  /** What the launcher wrote when it gave up; undefined where it did not. */
  failureIn(written: Buffer): string | undefined {
    if (written.length < 2 * POINTER_BYTES) return undefined;
    const step = this.#steps[Number(written.readBigUInt64LE(0))];
    const errno = Number(written.readBigUInt64LE(POINTER_BYTES) & 0xffff_ffffn);
    return step && `${step.options.about ?? String(step.call)} (errno ${errno})`;
  }
}

function flagsOf(options: StepOptions): number {
  let flags = 0;
  if (options.mayFail) flags |= FLAG.mayFail;
  if (options.takesResult) flags |= FLAG.takesResult;
  if (options.keepsResult) flags |= FLAG.keepsResult;
  if (options.branch) flags |= FLAG.branch;
  return flags;
}

/** Collects what pointers lead to, and knows at which address each piece will be. */
class PointedData {
  readonly #pieces: Buffer[];
  #bytes: number;

  constructor(table: Buffer) {
    this.#pieces = [table];
    this.#bytes = table.length;
  }

  valueOf(argument: Argument): bigint {
    if (argument === null) return 0n;
    if (typeof argument === 'number' || typeof argument === 'bigint') return BigInt.asUintN(64, BigInt(argument));
    if (typeof argument === 'string') return this.#put(Buffer.from(`${argument}\0`));
    if (Buffer.isBuffer(argument)) return this.#put(argument);
    if ('pointers' in argument) return this.#putPointers(argument.pointers);
    const bytes = Buffer.from(argument.bytes);
    bytes.writeBigUInt64LE(this.#put(argument.to), argument.pointerAt);
    return this.#put(bytes);
  }

  whole(): Buffer {
    if (this.#bytes > TABLE_BYTES_MAX) throw new Error('the table of system calls is too large for the launcher');
    return Buffer.concat(this.#pieces);
  }

  #putPointers(texts: readonly string[]): bigint {
    const list = Buffer.alloc((texts.length + 1) * POINTER_BYTES);
    for (const [index, text] of texts.entries()) list.writeBigUInt64LE(this.valueOf(text), index * POINTER_BYTES);
    return this.#put(list);
  }

  #put(piece: Buffer): bigint {
    const padding = (ALIGNMENT - (this.#bytes % ALIGNMENT)) % ALIGNMENT;
    const address = TABLE_ADDRESS + this.#bytes + padding;
    this.#pieces.push(Buffer.alloc(padding), piece);
    this.#bytes += padding + piece.length;
    return BigInt(address);
  }
}
