import { Socket } from 'node:net';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { createDeferred } from '../kernel/deferred.js';
import type { EndSignal } from '../kernel/end-signal.js';
import { EndSource } from '../kernel/end-signal.js';
import { domainOf } from './address.js';
import type { Mailer, OutgoingMail } from './mailer.js';
import { MailError } from './mailer.js';
import type { SmtpTarget } from './smtp-url.js';

const CONNECT_MAX_MS = 10_000;
const SILENCE_MAX_MS = 20_000;
/** For the whole of it, however busily the server answers. Shorter than a lease. */
export const MAIL_SEND_MAX_MS = 60_000;
/** Codes of refusals that are about this mail. Any other, such as a wrong login, ends when the operator sees to it. */
const ABOUT_MAIL = ['EENVELOPE', 'EMESSAGE'];
const SENDER_NAME = 'Strongroom';

export interface SmtpMailerOptions {
  readonly target: SmtpTarget;
  readonly from: string;
  readonly sendMaxMs?: number;
  /** In place of those that the platform knows. */
  readonly authorities?: readonly string[];
}

/** A connection for each mail: they are few, and one that breaks takes no other mail with it. */
export function createSmtpMailer(options: SmtpMailerOptions): Mailer {
  const { target, from, sendMaxMs = MAIL_SEND_MAX_MS } = options;
  return {
    async send(mail, signal) {
      const socket = new Socket();
      const connection = new SMTPConnection(connectionOptions(options, socket));
      try {
        const message = await compose(mail, from);
        await within(sendMaxMs, signal, (fail) => exchange({ connection, target, from, mail, message, fail }));
      } catch (error) {
        throw error instanceof MailError ? error : mailErrorFrom(error);
      } finally {
        connection.close();
        // Closing asks the server to close too, which one that hangs does not do.
        socket.destroy();
      }
    },
  };
}

/** Connects like a mail does, up to the login, and sends nothing. Undefined where that goes well. */
export async function examineSmtp(
  options: SmtpMailerOptions & { readonly sendMaxMs: number },
): Promise<MailError | undefined> {
  const socket = new Socket();
  const connection = new SMTPConnection(connectionOptions(options, socket));
  try {
    await within(options.sendMaxMs, new EndSource(), (fail) => {
      connection.on('error', fail);
      connection.on('end', () => fail(new MailError('ECLOSED')));
      return called((done) => connection.connect(done));
    });
    return undefined;
  } catch (error) {
    return error instanceof MailError ? error : mailErrorFrom(error);
  } finally {
    connection.close();
    socket.destroy();
  }
}

function connectionOptions({ target, from, authorities }: SmtpMailerOptions, socket: Socket): SMTPConnectionOptions {
  const { host, port, way } = target;
  return {
    host,
    port,
    socket,
    secure: way === 'tls',
    requireTLS: way === 'starttls',
    ignoreTLS: way === 'plain',
    // In place of the name of this machine, which is nobody's business.
    name: domainOf(from),
    connectionTimeout: CONNECT_MAX_MS,
    greetingTimeout: CONNECT_MAX_MS,
    socketTimeout: SILENCE_MAX_MS,
    // Said here, so that no variable of the environment turns it off.
    tls: { rejectUnauthorized: true, ...(authorities && { ca: [...authorities] }) },
    logger: false,
  };
}

function compose({ id, recipient, subject, text, html }: OutgoingMail, from: string): Promise<Buffer> {
  const composer = new MailComposer({
    from: { name: SENDER_NAME, address: from },
    to: { name: '', address: recipient },
    subject,
    text,
    html,
    // The same for each attempt, so that who gets a mail twice can tell.
    messageId: `<${id}@${domainOf(from)}>`,
    // No automatic answers of people who are away.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

interface Exchange {
  readonly connection: SMTPConnection;
  readonly target: SmtpTarget;
  readonly from: string;
  readonly mail: OutgoingMail;
  readonly message: Buffer;
  readonly fail: (error: unknown) => void;
}

async function exchange({ connection, target, from, mail, message, fail }: Exchange): Promise<void> {
  connection.on('error', fail);
  connection.on('end', () => fail(new MailError('ECLOSED')));
  await called((done) => connection.connect(done));
  const { login } = target;
  if (login) await called((done) => connection.login({ user: login.user, pass: login.password }, done));
  await called((done) => connection.send({ from, to: [mail.recipient] }, message, done));
}

function called(act: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => act((error) => (error ? reject(error) : resolve())));
}

/** Fails when the time is over or the signal ends it, whatever the work does: once its connection is closed it never ends. */
async function within(
  maxMs: number,
  signal: EndSignal,
  work: (fail: (error: unknown) => void) => Promise<void>,
): Promise<void> {
  const { promise, resolve, reject } = createDeferred<void>();
  const timer = setTimeout(() => reject(new MailError('ETOOSLOW')), maxMs);
  const end = (): void => reject(new MailError('EENDED'));
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  else work(reject).then(resolve, reject);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** Of what the library throws, the code and the status of the reply, and nothing that the server said. */
function mailErrorFrom(error: unknown): MailError {
  const { code, responseCode, permanent } = error as {
    readonly code?: unknown;
    readonly responseCode?: unknown;
    readonly permanent?: unknown;
  };
  const name = typeof code === 'string' && /^[A-Z]+$/.test(code) ? code : 'EUNKNOWN';
  const status = typeof responseCode === 'number' ? responseCode : undefined;
  return new MailError(name, status, permanent === true && ABOUT_MAIL.includes(name));
}
