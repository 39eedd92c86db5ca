/** An instruction of classic BPF: operation, how far to jump if true and if false, operand. */
export type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, operand: number];

export const LOAD = 0x20;
export const IF_EQUAL = 0x15;
export const IF_AT_LEAST = 0x35;
export const IF_ANY_BIT = 0x45;
export const RETURN = 0x06;

const INSTRUCTION_BYTES = 8;

/** A filter of system calls, and what the kernel is told about it: how many instructions there are, and where. */
export interface EncodedFilter {
  readonly bytes: Buffer;
  readonly pointerAt: number;
  readonly to: Buffer;
}

export function encodeFilter(instructions: readonly Instruction[]): EncodedFilter {
  const filter = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [index, [operation, ifTrue, ifFalse, operand]] of instructions.entries()) {
    const at = index * INSTRUCTION_BYTES;
    filter.writeUInt16LE(operation, at);
    filter.writeUInt8(ifTrue, at + 2);
    filter.writeUInt8(ifFalse, at + 3);
    filter.writeUInt32LE(operand >>> 0, at + 4);
  }
  const description = Buffer.alloc(16);
  description.writeUInt16LE(instructions.length, 0);
  return { bytes: description, pointerAt: 8, to: filter };
}
