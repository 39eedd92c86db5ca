import { IntegrityError } from '../crypto/integrity-error.js';
import type { SystemSeal } from '../crypto/system-seal.js';
import type { Clock } from '../kernel/clock.js';
import { EndSource } from '../kernel/end-signal.js';
import type { Database } from '../storage/database.js';
import type { Gauge } from '../telemetry/metrics.js';
import { MAIL_AGE_MAX_MS, MAIL_DELAYS_MS, mailDelayAfter } from './backoff.js';
import { openSealedMail } from './content.js';
import type { MailTx } from './mail-scope.js';
import { inMailScope } from './mail-scope.js';
import type { Mailer, OutgoingMail } from './mailer.js';
import { MailError } from './mailer.js';
import type { MailRow } from './queries.js';
import { claimMails, deleteMail, postponeMail, readMailTime } from './queries.js';

/** A try of a mail that came to nothing. It never has an address or anything that the mail says. */
export interface MailStory {
  readonly mailId: string;
  /** What it was about; undefined where it did not open. */
  readonly mailKind: string | undefined;
  readonly tries: number;
  readonly code: string;
  /** Of the server's reply. */
  readonly status?: number | undefined;
}

export interface MailSenderOptions {
  readonly database: Database;
  readonly seal: SystemSeal;
  readonly mailer: Mailer;
  readonly clock: Clock;
  /** What time it is by that of the database. */
  readonly timeOf?: ((databaseMs: number) => number) | undefined;
  /** The queue cannot be worked on. */
  readonly onFault: (error: unknown) => void;
  /** Will be tried again. */
  readonly onFailed: (story: MailStory) => void;
  /** Given up: whoever waits for it waits in vain. */
  readonly onDropped: (story: MailStory) => void;
  readonly closeWaitMs?: number;
}

export interface MailSender {
  /** Something is due. */
  wake(): void;
  /** Waits a little for mails under way, then gives them back. */
  close(): Promise<void>;
  readonly gauges: readonly Gauge[];
}

/** Twice as long as a mail may take. */
export const MAIL_LEASE_MS = 120_000;
const REST_MS = 5_000;
const AT_ONCE_MAX = 4;
const CLOSE_WAIT_MS = 5_000;
const TRIES_MAX = MAIL_DELAYS_MS.length + 1;

/** Sends what is due, for as long as the process runs. Any number of processes may do so on one database. */
export function startMailSender(options: MailSenderOptions): MailSender {
  return new MailLoop(options);
}

const OUTCOMES = ['sent', 'postponed', 'dropped'] as const;

class MailLoop implements MailSender {
  readonly #options: MailSenderOptions;
  readonly #tasks = new Set<Promise<void>>();
  readonly #end = new EndSource();
  readonly #running: Promise<void>;
  readonly #outcomes = new Map<string, number>(OUTCOMES.map((outcome) => [outcome, 0]));
  /** How far the time of the database is ahead of this process. */
  #aheadMs = 0;
  #isClosed = false;
  #isWoken = false;
  #endRest = (): void => {};

  constructor(options: MailSenderOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get gauges(): readonly Gauge[] {
    const help = 'Tries to send a mail: sent, put off, or given up.';
    return [{ name: 'strongroom_mails_total', help, type: 'counter', label: 'outcome', read: () => this.#outcomes }];
  }

  wake(): void {
    this.#isWoken = true;
    this.#endRest();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endRest();
    const timer = setTimeout(() => this.#end.abort(undefined), this.#options.closeWaitMs ?? CLOSE_WAIT_MS);
    await this.#running;
    await Promise.all(this.#tasks);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      this.#isWoken = false;
      try {
        await this.#takeDue();
      } catch (error) {
        this.#options.onFault(error);
      }
      if (!this.#isClosed && !this.#isWoken) await this.#rest();
    }
  }

  async #takeDue(): Promise<void> {
    const free = AT_ONCE_MAX - this.#tasks.size;
    if (free === 0) return;
    const rows = await inMailScope(this.#options.database, async (tx) => {
      this.#learnTime(await readMailTime(tx));
      const nowMs = this.#nowMs();
      return claimMails(tx, nowMs, nowMs + MAIL_LEASE_MS, free);
    });
    for (const row of rows) this.#start(row);
  }

  #start(row: MailRow): void {
    const task = this.#deliver(row)
      .catch(this.#options.onFault)
      .finally(() => {
        this.#tasks.delete(task);
        this.wake();
      });
    this.#tasks.add(task);
  }

  async #deliver(row: MailRow): Promise<void> {
    const { seal, mailer } = this.#options;
    let mail: OutgoingMail;
    try {
      mail = openSealedMail(seal, row.id, row.sealed);
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      return this.#drop(row, undefined, new MailError('EALTERED'));
    }
    if (this.#nowMs() - row.created_at.getTime() > MAIL_AGE_MAX_MS) {
      return this.#drop(row, mail.kind, new MailError('ETOOOLD'));
    }
    // Each of them brought its process down, or its outcome could not be written.
    if (row.attempts > TRIES_MAX) return this.#drop(row, mail.kind, new MailError('ETOOOFTEN'));
    try {
      await mailer.send(mail, this.#end);
    } catch (error) {
      return this.#afterFailure(row, mail.kind, error instanceof MailError ? error : new MailError('EUNKNOWN'));
    }
    await this.#write((tx) => deleteMail(tx, row));
    this.#count('sent');
  }

  async #afterFailure(row: MailRow, kind: string, error: MailError): Promise<void> {
    if (this.#end.aborted) return this.#write((tx) => postponeMail(tx, row, this.#nowMs(), false));
    const delayMs = mailDelayAfter(row.attempts, error.isFinal);
    if (delayMs === undefined) return this.#drop(row, kind, error);
    await this.#write((tx) => postponeMail(tx, row, this.#nowMs() + delayMs, true));
    this.#count('postponed');
    this.#options.onFailed(storyOf(row, kind, error));
  }

  async #drop(row: MailRow, kind: string | undefined, error: MailError): Promise<void> {
    await this.#write((tx) => deleteMail(tx, row));
    this.#count('dropped');
    this.#options.onDropped(storyOf(row, kind, error));
  }

  #count(outcome: (typeof OUTCOMES)[number]): void {
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
  }

  #write(work: (tx: MailTx) => Promise<void>): Promise<void> {
    return inMailScope(this.#options.database, work);
  }

  #learnTime(databaseMs: number): void {
    const { clock, timeOf = (ms: number) => ms } = this.#options;
    this.#aheadMs = timeOf(databaseMs) - clock.nowMs();
  }

  #nowMs(): number {
    return Math.round(this.#options.clock.nowMs() + this.#aheadMs);
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, REST_MS);
      timer.unref();
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function storyOf({ id, attempts }: MailRow, mailKind: string | undefined, { code, status }: MailError): MailStory {
  return { mailId: id, mailKind, tries: attempts, code, status };
}
