import type { EndSignal } from '../kernel/end-signal.js';

/** What a message says, as text and as HTML with the same content. */
export interface MailMessage {
  /** What it is about, for logs: never anything of what it says. */
  readonly kind: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface OutgoingMail extends MailMessage {
  readonly id: string;
  readonly recipient: string;
}

/** Hands a mail to a server. */
export interface Mailer {
  /** Resolves once the server has taken the mail over. Fails with a MailError, also when the signal ends it. */
  send(mail: OutgoingMail, signal: EndSignal): Promise<void>;
}

/** A mail that did not leave. It holds a code and a status alone: what servers say quotes addresses. */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly code: string;
  /** The status of the server's reply; undefined where there was none. */
  readonly status: number | undefined;
  /** The server will say no again. */
  readonly isFinal: boolean;

  constructor(code: string, status?: number, isFinal = false) {
    super(`mail not sent: ${code}${status === undefined ? '' : ` ${status}`}`);
    this.code = code;
    this.status = status;
    this.isFinal = isFinal;
  }
}
