import { hasMoreValues, isTooDeep } from '../../kernel/json-guard.js';

/** A frame, as the engine writes them too: the length of its head in 32 bits, the head as JSON, and any bytes behind it. */
export interface Frame {
  readonly head: unknown;
  readonly body: Buffer;
}

export const HEAD_LENGTH_BYTES = 4;
/** Values of a head. What the engine itself writes has about 2,000 lines of a console or errors at most. */
const HEAD_VALUES_MAX = 20_000;

export function encodeFrame(head: unknown, body: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, body]);
}

/** Returns the bytes of the head, before anything of it is parsed; undefined for what is no frame. */
function headIn(bytes: Buffer): Buffer | undefined {
  if (bytes.length < HEAD_LENGTH_BYTES) return undefined;
  const end = HEAD_LENGTH_BYTES + bytes.readUInt32BE(0);
  return end > bytes.length ? undefined : bytes.subarray(HEAD_LENGTH_BYTES, end);
}

/** Tenant code can put a thrown list of a million values into the head, and parsing that would keep everybody waiting. */
export function isHeadTooLarge(bytes: Buffer): boolean {
  const head = headIn(bytes);
  return head !== undefined && hasMoreValues(head, HEAD_VALUES_MAX);
}

/** Undefined for what is no frame: the engine may have been taken over, and may send anything. */
export function decodeFrame(bytes: Buffer): Frame | undefined {
  const head = headIn(bytes);
  if (head === undefined || isTooDeep(head) || isHeadTooLarge(bytes)) return undefined;
  try {
    return { head: JSON.parse(head.toString()), body: bytes.subarray(HEAD_LENGTH_BYTES + head.length) };
  } catch {
    return undefined;
  }
}
