import { createSecretKey } from 'node:crypto';
import type { MailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { systemClock } from '../kernel/clock.js';
import type { Database } from '../storage/database.js';
import { createMailSeal } from './content.js';
import { inMailScope } from './mail-scope.js';
import { enqueueMail } from './outbox.js';
import type { MailSender, MailSenderOptions, MailStory } from './sender.js';
import { startMailSender } from './sender.js';
import { createSmtpMailer } from './smtp-mailer.js';
import { parseSmtpUrl } from './smtp-url.js';

/** Nobody's key. */
export const testMailSeal = createMailSeal(createSecretKey(Buffer.alloc(32, 9)));
const SECRET_LINK = 'https://vault.example.com/portal/reset#s3cr3t';

export function testMailer(port: number) {
  const target = parseSmtpUrl(`smtp://127.0.0.1:${port}`);
  if (target === undefined) throw new Error('the address of the catcher is one');
  return createSmtpMailer({ target, from: 'vault@example.com' });
}

/** A sender that hears of nothing but what it is told to, with what it told in return. */
export function startTestSender(
  database: Database,
  port: number,
  options: Partial<MailSenderOptions> = {},
): MailSender & { readonly failed: MailStory[]; readonly dropped: MailStory[]; readonly faults: unknown[] } {
  const [failed, dropped, faults]: [MailStory[], MailStory[], unknown[]] = [[], [], []];
  const sender = startMailSender({
    database,
    seal: testMailSeal,
    mailer: testMailer(port),
    clock: systemClock,
    onFault: (error) => faults.push(error),
    onFailed: (story) => failed.push(story),
    onDropped: (story) => dropped.push(story),
    closeWaitMs: 0,
    ...options,
  });
  return { wake: () => sender.wake(), close: () => sender.close(), gauges: sender.gauges, failed, dropped, faults };
}

/** Queues a mail to each of these, one transaction each. */
export async function queueMails(database: Database, names: readonly string[], seal = testMailSeal): Promise<void> {
  for (const name of names) {
    const message = { kind: 'test', subject: `Hello ${name}`, text: `${SECRET_LINK}\n`, html: `<p>${SECRET_LINK}</p>` };
    await inMailScope(database, (tx) =>
      enqueueMail({ seal, clock: systemClock }, tx, { recipient: `${name}@example.com`, message }),
    );
  }
}

/** To whom mails came, in order of the alphabet. */
export function recipientsOf(catcher: MailCatcher): string[] {
  return catcher.caught.flatMap(({ to }) => to.map((address) => address.replace('@example.com', ''))).sort();
}
