import type { RemoteInfo } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

/** Types of questions. */
export const A = 1;
export const AAAA = 28;
/** Codes of failure. */
export const SERVER_FAILURE = 2;
export const NAME_ERROR = 3;

/** Addresses, a code of failure, or undefined for silence. */
export type NameAnswer = readonly string[] | number | undefined;

/** A name server on loopback. */
export interface NameServer {
  readonly port: number;
  /** What it was asked, as `name type`. */
  readonly asked: string[];
  close(): Promise<void>;
}

const HEADER_BYTES = 12;
const ANSWERED = 0x8180;
const SECONDS = 60;

/** `answerTo` decides anew for each question. */
export async function startNameServer(answerTo: (name: string, type: number) => NameAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question: Buffer, { port, address }: RemoteInfo) => {
    const { name, type, end } = readQuestion(question);
    asked.push(`${name} ${type}`);
    const found = answerTo(name, type);
    if (found !== undefined) socket.send(writeAnswer(question.subarray(0, end), type, found), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    port: socket.address().port,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(question: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 };
}

function writeAnswer(question: Buffer, type: number, found: readonly string[] | number): Buffer {
  const code = typeof found === 'number' ? found : 0;
  const records = (typeof found === 'number' ? [] : found).map(addressBytes);
  const head = Buffer.from(question.subarray(0, HEADER_BYTES));
  head.writeUInt16BE(ANSWERED | code, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  // Name by reference, type, class, lifetime, length.
  const answers = records.map((bytes) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, SECONDS, 0, bytes.length, ...bytes]),
  );
  return Buffer.concat([head, question.subarray(HEADER_BYTES), ...answers]);
}

/** Of an IPv6 address written in full, or with `::` for its zeros. */
function addressBytes(address: string): number[] {
  if (isIPv4(address)) return address.split('.').map(Number);
  const [left = '', right = ''] = address.split('::');
  const groups = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const zeros = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array.from({ length: zeros }, () => '0'), ...groups(right)];
  return all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}
