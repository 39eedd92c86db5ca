import { isTooDeep } from '../../kernel/json-guard.js';

/** A frame, as the engine writes them too: the length of its head in 32 bits, the head as JSON, and any bytes behind it. */
export interface Frame {
  readonly head: unknown;
  readonly body: Buffer;
}

export const HEAD_LENGTH_BYTES = 4;

export function encodeFrame(head: unknown, body: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, body]);
}

/** Undefined for what is no frame: the engine may have been taken over, and may send anything. */
export function decodeFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < HEAD_LENGTH_BYTES) return undefined;
  const end = HEAD_LENGTH_BYTES + bytes.readUInt32BE(0);
  if (end > bytes.length) return undefined;
  const head = bytes.subarray(HEAD_LENGTH_BYTES, end);
  if (isTooDeep(head)) return undefined;
  try {
    return { head: JSON.parse(head.toString()), body: bytes.subarray(end) };
  } catch {
    return undefined;
  }
}
