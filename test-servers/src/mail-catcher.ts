import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';

/** A mail as it arrived. */
export interface CaughtMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, with dots undone. */
  readonly data: string;
}

/** In place of the usual reply: another one, or none for ever, or a broken connection. */
export type MailReply = string | 'silence' | 'hang up' | undefined;

export interface MailCatcher {
  readonly port: number;
  readonly caught: CaughtMail[];
  /** Commands it was sent, passwords included. */
  readonly commands: string[];
  readonly connections: () => number;
  /** Decides about each command from now on; the end of a message is the command `.` and counts as caught by then. */
  setReplies(replyTo: (command: string) => MailReply): void;
  /** Nobody listens on the port any more, and what is connected is broken. */
  refuse(): Promise<void>;
  /** Listens on the same port again. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

export interface MailCatcherTls {
  /** From the first byte, or once a client asks for it. */
  readonly from: 'start' | 'STARTTLS';
  readonly key: string;
  readonly cert: string;
}

/** What all connections to a catcher share. */
interface Catch {
  readonly caught: CaughtMail[];
  readonly commands: string[];
  readonly tls: MailCatcherTls | undefined;
  replyTo: (command: string) => MailReply;
}

/** An SMTP server on loopback that keeps what it is sent, in memory. */
export async function startMailCatcher(tls?: MailCatcherTls): Promise<MailCatcher> {
  const shared: Catch = { caught: [], commands: [], tls, replyTo: () => undefined };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    greet(tls?.from === 'start' ? secured(socket, tls) : socket, shared);
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port,
    caught: shared.caught,
    commands: shared.commands,
    connections: () => sockets.size,
    setReplies(next) {
      shared.replyTo = next;
    },
    refuse,
    accept: () => listen(port),
    async close() {
      if (server.listening) await refuse();
    },
  };
}

const USUAL: readonly (readonly [RegExp, string])[] = [
  [/^EHLO /i, '250-catcher\r\n250-AUTH PLAIN\r\n250 8BITMIME'],
  [/^HELO /i, '250 catcher'],
  [/^AUTH PLAIN /i, '235 2.7.0 ok'],
  [/^MAIL FROM:/i, '250 2.1.0 ok'],
  [/^RCPT TO:/i, '250 2.1.5 ok'],
  [/^DATA$/i, '354 go on'],
  [/^\.$/, '250 2.0.0 caught'],
  [/^QUIT$/i, '221 2.0.0 bye'],
];

function secured(socket: Socket, { key, cert }: MailCatcherTls): TLSSocket {
  const over = new TLSSocket(socket, { isServer: true, key, cert });
  over.on('error', () => {});
  return over;
}

function greet(socket: Socket, shared: Catch): void {
  const greeting = shared.replyTo('') ?? '220 catcher ESMTP';
  converse(socket, shared, shared.tls?.from === 'STARTTLS');
  if (greeting === 'hang up') socket.destroy();
  else if (greeting !== 'silence') socket.write(`${greeting}\r\n`);
}

function converse(socket: Socket, shared: Catch, offersTls: boolean): void {
  let unread = '';
  let isData = false;
  let mail: { from: string; to: string[]; lines: string[] } = { from: '', to: [], lines: [] };

  function usual(command: string): string {
    const reply = USUAL.find(([pattern]) => pattern.test(command))?.[1] ?? '500 unknown';
    return offersTls ? reply.replace('250-catcher', '250-catcher\r\n250-STARTTLS') : reply;
  }

  function answer(command: string): void {
    const reply = shared.replyTo(command) ?? usual(command);
    if (reply === 'silence') return;
    if (reply === 'hang up') return void socket.destroy();
    if (/^DATA$/i.test(command)) isData = reply.startsWith('3');
    socket.write(`${reply}\r\n`);
  }

  function take(text: string): void {
    if (isData && text !== '.') return void mail.lines.push(text.replace(/^\./, ''));
    shared.commands.push(text);
    if (offersTls && shared.tls && text === 'STARTTLS') {
      socket.removeAllListeners('data');
      socket.write('220 go on\r\n');
      converse(secured(socket, shared.tls), shared, false);
      return;
    }
    if (isData) {
      isData = false;
      shared.caught.push({ from: mail.from, to: mail.to, data: mail.lines.join('\r\n') });
      mail = { from: '', to: [], lines: [] };
    }
    const [, verb, address = ''] = /^(MAIL FROM|RCPT TO):<([^>]*)>/i.exec(text) ?? [];
    if (verb?.toUpperCase() === 'MAIL FROM') mail = { from: address, to: [], lines: [] };
    if (verb?.toUpperCase() === 'RCPT TO') mail.to.push(address);
    answer(text);
  }

  // Not by the encoding of the socket, which TLS could not take over from it.
  socket.on('data', (chunk: Buffer) => {
    unread += chunk.toString('utf8');
    for (let end = unread.indexOf('\r\n'); end !== -1; end = unread.indexOf('\r\n')) {
      const text = unread.slice(0, end);
      unread = unread.slice(end + 2);
      take(text);
    }
  });
}
