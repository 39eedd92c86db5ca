import { writeOrderedId } from '../kernel/ids.js';

/**
 * Lists of parameters in the server's own binary form. As text every element would be quoted and escaped, and bytes
 * written twice as long; for a batch of rows that is most of what sending it costs.
 */

const OID = { bytea: 17, int8: 20, int4: 23, text: 25, timestamptz: 1_184, uuid: 2_950 } as const;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const UUID_BYTES = 16;
const DASH = 0x2d;
const UUID_CHARACTERS = 36;
const NOT_A_DIGIT = 0x100;
const HEX_DIGITS = Uint16Array.from({ length: 128 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase());
  return digit === -1 ? NOT_A_DIGIT : digit;
});
const MS_2000 = 946_684_800_000;

export function uuidArray(values: readonly (string | null)[]): Buffer {
  return fixedArray(OID.uuid, UUID_BYTES, values, writeUuid);
}

/**
 * Eight hundred of these go into a batch of a hundred tokens, so the digits are read one by one, without a string between.
 * Anything else is refused: what is too short would leave in its place bytes that were never written.
 */
function writeUuid(target: Buffer, uuid: string, at: number): void {
  let byte = at;
  let faults = uuid.length ^ UUID_CHARACTERS;
  for (let place = 0; place < uuid.length; place += 2) {
    if (uuid.charCodeAt(place) === DASH) place += 1;
    const value = (digitOf(uuid.charCodeAt(place)) << 4) | digitOf(uuid.charCodeAt(place + 1));
    faults |= value & ~0xff;
    if (byte < at + UUID_BYTES) target[byte] = value;
    byte += 1;
  }
  if (faults !== 0 || byte !== at + UUID_BYTES) throw new RangeError('not a UUID');
}

function digitOf(code: number): number {
  return HEX_DIGITS[code] ?? NOT_A_DIGIT;
}

/** A new one for each instant, that sorts by it. */
export function orderedIdArray(atMs: readonly number[]): Buffer {
  return fixedArray(OID.uuid, UUID_BYTES, atMs, writeOrderedId);
}

/** Instants in milliseconds. */
export function timestampArray(values: readonly (number | null)[]): Buffer {
  return fixedArray(OID.timestamptz, 8, values, (target, value, at) =>
    writeInt64(target, (value - MS_2000) * 1_000, at),
  );
}

export function int4Array(values: readonly number[]): Buffer {
  return fixedArray(OID.int4, 4, values, (target, value, at) => {
    target.writeInt32BE(value, at);
  });
}

/** Whole numbers that a number can hold exactly. */
export function int8Array(values: readonly number[]): Buffer {
  return fixedArray(OID.int8, 8, values, (target, value, at) => writeInt64(target, value, at));
}

export function byteaArray(values: readonly (Buffer | null)[]): Buffer {
  let bytes = HEADER_BYTES;
  for (const value of values) bytes += LENGTH_BYTES + (value?.length ?? 0);
  const target = startArray(OID.bytea, values, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = target.writeInt32BE(value === null ? NULL_LENGTH : value.length, at);
    if (value !== null) at += value.copy(target, at);
  }
  return target;
}

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = HEADER_BYTES;
  for (const value of values) bytes += LENGTH_BYTES + (value === null ? 0 : Buffer.byteLength(value));
  const target = startArray(OID.text, values, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === null) {
      at = target.writeInt32BE(NULL_LENGTH, at);
      continue;
    }
    const length = target.write(value, at + LENGTH_BYTES);
    at = target.writeInt32BE(length, at) + length;
  }
  return target;
}

/** The elements of a list in binary form, each in the binary form of its own. */
export function elementsOf(list: Buffer): (Buffer | null)[] {
  const count = list.readInt32BE(12);
  let at = HEADER_BYTES;
  return Array.from({ length: count }, () => {
    const length = list.readInt32BE(at);
    at += LENGTH_BYTES;
    if (length === NULL_LENGTH) return null;
    at += length;
    return list.subarray(at - length, at);
  });
}

function fixedArray<T>(
  oid: number,
  elementBytes: number,
  values: readonly (T | null)[],
  write: (target: Buffer, value: T, at: number) => void,
): Buffer {
  let nulls = 0;
  for (const value of values) if (value === null) nulls += 1;
  const bytes = HEADER_BYTES + values.length * LENGTH_BYTES + (values.length - nulls) * elementBytes;
  const target = startArray(oid, values, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = target.writeInt32BE(value === null ? NULL_LENGTH : elementBytes, at);
    if (value === null) continue;
    write(target, value, at);
    at += elementBytes;
  }
  return target;
}

/** One dimension that begins at 1; an empty list is written as one of no elements. */
function startArray(oid: number, values: readonly unknown[], bytes: number): Buffer {
  const target = Buffer.allocUnsafe(bytes);
  target.writeInt32BE(1, 0);
  target.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  target.writeInt32BE(oid, 8);
  target.writeInt32BE(values.length, 12);
  target.writeInt32BE(1, 16);
  return target;
}

function writeInt64(target: Buffer, value: number, at: number): void {
  if (!Number.isFinite(value)) throw new RangeError('not a number');
  const high = Math.floor(value / 0x1_0000_0000);
  target.writeInt32BE(high, at);
  target.writeUInt32BE(value - high * 0x1_0000_0000, at + 4);
}
