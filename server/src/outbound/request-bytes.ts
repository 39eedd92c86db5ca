import type { WireRequest } from './exchange.js';

/** Up to here head and body are one write, which is one record of TLS and one packet. */
const JOINED_BYTES_MAX = 16_384;
const LINE_END = Buffer.from('\r\n');
export const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Names and values were judged: nothing in them ends a line. */
export function headOfRequest({ method, path, headers }: Pick<WireRequest, 'method' | 'path' | 'headers'>): string {
  let text = `${method} ${path} HTTP/1.1\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return `${text}\r\n`;
}

export function wholeRequest(
  wire: Pick<WireRequest, 'method' | 'path' | 'headers'>,
  body: Buffer | undefined,
): Buffer[] {
  const head = headOfRequest(wire);
  if (body === undefined) return [Buffer.from(head, 'latin1')];
  if (head.length + body.length > JOINED_BYTES_MAX) return [Buffer.from(head, 'latin1'), body];
  const joined = Buffer.allocUnsafe(head.length + body.length);
  joined.write(head, 'latin1');
  body.copy(joined, head.length);
  return [joined];
}

/** One without a byte would be the last one, so it is left out. */
export function chunkOf(piece: Buffer): Buffer {
  if (piece.length === 0) return piece;
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, LINE_END]);
}
