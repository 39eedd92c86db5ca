import { connect } from 'node:net';
import { HANGS_MS } from './eventually.js';

/** An answer, as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Whole answers at the beginning of what a connection brought. */
function answersIn(text: string): RawAnswer[] {
  const end = text.indexOf('\r\n\r\n');
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? [];
  if (end === -1 || status === undefined) return [];
  const lines = text.slice(0, end).split('\r\n').slice(1);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = text.slice(end + 4);
  const length = headers.get('content-length');
  const [chunked, , chunk = ''] = /^([0-9a-f]+)\r\n([\s\S]*?)\r\n0\r\n\r\n/i.exec(rest) ?? [];
  const taken = length === undefined ? (chunked?.length ?? 0) : Number(length);
  if (rest.length < taken) return [];
  const body = length === undefined ? chunk : rest.slice(0, taken);
  return [{ status: Number(status), headers, body }, ...answersIn(rest.slice(taken))];
}

/** Sends bytes and gathers answers until there are as many as wanted or the server hangs up. */
export function exchange(port: number, bytes: string, wanted = Number.POSITIVE_INFINITY, deadlineMs = HANGS_MS) {
  return new Promise<RawAnswer[]>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`neither hung up nor answered ${wanted} times; so far: ${text}`));
    }, deadlineMs);
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answersIn(text));
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (answersIn(text).length >= wanted) finish();
    });
    socket.once('error', finish);
    socket.once('close', finish);
    socket.write(bytes, 'latin1');
  });
}

/** A request without a body. */
export function message(requestLine: string, ...headers: string[]): string {
  return `${[`${requestLine} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`;
}
