import type { KeyObject } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import type { Secret } from '../kernel/secret.js';
import type { Gauge } from '../telemetry/metrics.js';
import { createMailSeal } from './content.js';
import type { EnqueueTx } from './mail-scope.js';
import type { MailToSend, OutboxOptions } from './outbox.js';
import { enqueueMail, offerMail } from './outbox.js';
import type { MailSenderOptions } from './sender.js';
import { startMailSender } from './sender.js';
import { createSmtpMailer } from './smtp-mailer.js';
import { parseSmtpUrl } from './smtp-url.js';

/** What other rooms use of mail. */
export interface Mail {
  /** Writes the mail in the transaction of the change it tells of. 503 when too many wait. */
  enqueue(tx: EnqueueTx, mail: MailToSend): Promise<void>;
  /** The same for a change that must not wait for its mail: false, and nothing is queued, when too many wait. */
  offer(tx: EnqueueTx, mail: MailToSend): Promise<boolean>;
  /** The same work and nothing queued: whoever measures cannot tell whether there is somebody to write to. */
  pretend(tx: EnqueueTx, mail: MailToSend): Promise<void>;
  /** After the commit: the mail leaves now and not within seconds. */
  wake(): void;
  close(): Promise<void>;
  readonly gauges: readonly Gauge[];
}

export interface MailOptions extends Omit<MailSenderOptions, 'seal' | 'mailer' | 'closeWaitMs'> {
  readonly smtpUrl: Secret<string> | undefined;
  readonly from: string | undefined;
  readonly rowMacKey: KeyObject;
}

/** For a process that sends nothing itself: what it queues leaves with the next round of the service. */
export function openOutbox(options: { rowMacKey: KeyObject; clock: Clock }): Pick<Mail, 'offer' | 'pretend' | 'wake'> {
  const outbox = { seal: createMailSeal(options.rowMacKey), clock: options.clock };
  return { ...offersOf(outbox), wake: () => {} };
}

/** Undefined where no server is set: then nothing can be sent, and links are shown to whoever asked for them. */
export function openMail({ smtpUrl, from, rowMacKey, ...options }: MailOptions): Mail | undefined {
  const target = smtpUrl && parseSmtpUrl(smtpUrl.reveal());
  if (target === undefined || from === undefined) return undefined;
  const seal = createMailSeal(rowMacKey);
  const sender = startMailSender({ ...options, seal, mailer: createSmtpMailer({ target, from }) });
  const outbox = { seal, clock: options.clock };
  return {
    enqueue: (tx, mail) => enqueueMail(outbox, tx, mail),
    ...offersOf(outbox),
    wake: () => sender.wake(),
    close: () => sender.close(),
    gauges: sender.gauges,
  };
}

function offersOf(outbox: OutboxOptions): Pick<Mail, 'offer' | 'pretend'> {
  return {
    offer: (tx, mail) => offerMail(outbox, tx, mail),
    async pretend(tx, mail) {
      await offerMail({ ...outbox, isPretence: true }, tx, mail);
    },
  };
}
