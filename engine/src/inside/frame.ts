/** A frame: the length of its head as 32 bits, big-endian; the head as JSON; the body, any bytes. */
const HEAD_LENGTH_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function toFrame(head: unknown, body: Uint8Array = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const text = encoder.encode(JSON.stringify(head));
  const frame = new Uint8Array(HEAD_LENGTH_BYTES + text.length + body.length);
  new DataView(frame.buffer).setUint32(0, text.length);
  frame.set(text, HEAD_LENGTH_BYTES);
  frame.set(body, HEAD_LENGTH_BYTES + text.length);
  return frame;
}

export function fromFrame(frame: ArrayBuffer): { readonly head: unknown; readonly body: Uint8Array<ArrayBuffer> } {
  const length = new DataView(frame).getUint32(0);
  const head: unknown = JSON.parse(decoder.decode(new Uint8Array(frame, HEAD_LENGTH_BYTES, length)));
  return { head, body: new Uint8Array(frame, HEAD_LENGTH_BYTES + length) };
}
