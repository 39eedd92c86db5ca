import type { SystemSeal } from '../crypto/system-seal.js';
import { assert } from '../kernel/assert.js';
import type { Clock } from '../kernel/clock.js';
import { overloaded } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { isMailAddress } from './address.js';
import { sealMail } from './content.js';
import type { EnqueueTx } from './mail-scope.js';
import type { MailMessage } from './mailer.js';
import { insertMail, insertMailOfTenant } from './queries.js';

/** Far more than people cause; somebody who makes us send mail must not fill the database. */
export const MAILS_WAITING_MAX = 10_000;
/** The rest is for what concerns accounts: no tenant may keep users from being told of a sign-in, or from their links. */
const MAILS_OF_TENANTS_MAX = 5_000;
const MAILS_OF_TENANT_MAX = 1_000;

export interface MailToSend {
  /** One plain address, which the caller has checked. */
  readonly recipient: string;
  readonly message: MailMessage;
}

/** Puts a mail into the queue, in the transaction of the change it tells of. 503 when the queue is full. */
export async function enqueueMail(options: OutboxOptions, tx: EnqueueTx, mail: MailToSend): Promise<void> {
  if (!(await offerMail(options, tx, mail))) throw overloaded();
}

/** The same for a change that must not wait for its mail: false when the queue is full. */
export async function offerMail(
  { seal, clock, waitingMax = MAILS_WAITING_MAX, isPretence }: OutboxOptions,
  tx: EnqueueTx,
  { recipient, message: { kind, subject, text, html } }: MailToSend,
): Promise<boolean> {
  assert(isMailAddress(recipient), 'a mail has one plain recipient');
  const id = newId();
  const sealed = sealMail(seal, { id, recipient, kind, subject, text, html });
  const row = { id, created_at: new Date(clock.nowMs()), sealed };
  if (!('tenantId' in tx)) return insertMail(tx, row, waitingMax, isPretence);
  const shares = { ofTenantsMax: MAILS_OF_TENANTS_MAX, ofTenantMax: MAILS_OF_TENANT_MAX };
  return insertMailOfTenant(tx, row, { tenantId: tx.tenantId, waitingMax, ...shares });
}

export interface OutboxOptions {
  readonly seal: SystemSeal;
  readonly clock: Clock;
  readonly waitingMax?: number;
  /** Does the same work and queues nothing. */
  readonly isPretence?: boolean;
}
