import type { KeyObject } from 'node:crypto';
import type { SystemSeal } from '../crypto/system-seal.js';
import { createSystemSeal } from '../crypto/system-seal.js';
import { withWiped } from '../crypto/wiped.js';
import type { OutgoingMail } from './mailer.js';

const LABEL = 'strongroom/mail/1';

const contextOf = (id: string) => ({ kind: 'mail', entityId: id, field: 'content', dataVersion: 1 });

/** Opens and seals what a mail says and to whom. */
export function createMailSeal(rowMacKey: KeyObject): SystemSeal {
  return createSystemSeal(rowMacKey, LABEL);
}

export function sealMail(seal: SystemSeal, { id, ...content }: OutgoingMail): Buffer {
  return withWiped(Buffer.from(JSON.stringify(content)), (plaintext) => seal.seal(contextOf(id), plaintext));
}

/** Throws IntegrityError for a row that was altered. */
export function openSealedMail(seal: SystemSeal, id: string, sealed: Buffer): OutgoingMail {
  return withWiped(seal.open(contextOf(id), sealed), (plaintext): OutgoingMail => {
    const content: Omit<OutgoingMail, 'id'> = JSON.parse(plaintext.toString('utf8')); // Authenticated: we wrote it.
    return { id, ...content };
  });
}
