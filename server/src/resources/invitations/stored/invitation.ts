import type { KeyObject } from 'node:crypto';
import type { GivenRole } from '../../../access/roles.js';
import type { InvitationRow } from '../../../access/row-macs.js';
import { invitationMac } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import { hashApiKey } from '../../../crypto/keyed-hash.js';
import { ALPHANUMERICS, randomText } from '../../../crypto/random-text.js';
import { formatDate } from '../../../kernel/dates.js';
import { Secret } from '../../../kernel/secret.js';
import type { StoredInvitation } from '../queries.js';
import type { InvitationBody } from '../schema.js';

/** 256 random bits. */
const SECRET_LENGTH = 43;
const MAILED_FIRST = ALPHANUMERICS.slice(0, ALPHANUMERICS.length / 2);
const SHOWN_FIRST = ALPHANUMERICS.slice(ALPHANUMERICS.length / 2);
const LIFE_MS = 72 * 3_600_000;

/** What links are made and recognised with. */
export interface InvitationKeys {
  readonly rowMac: KeyObject;
  readonly apiKeyPepper: KeyObject;
}

/**
 * The first character says whether the link is mailed or shown, which takes one of the 256 bits. Its hash is under the MAC of the
 * invitation, so nobody makes one of the other; and it needs no column that somebody could edit.
 */
export function newInvitationSecret(way: 'mailed' | 'shown'): Secret<string> {
  const first = way === 'mailed' ? MAILED_FIRST : SHOWN_FIRST;
  return new Secret(randomText(first, 1) + randomText(ALPHANUMERICS, SECRET_LENGTH - 1));
}

/** Whether whoever has the secret of a good invitation has the mailbox that was invited. */
export function isMailedInvitation(secret: string): boolean {
  return MAILED_FIRST.includes(secret.charAt(0));
}

/** What is stored in place of the secret of a link. */
export function hashInvitationSecret({ apiKeyPepper }: Pick<InvitationKeys, 'apiKeyPepper'>, secret: string): Buffer {
  return hashApiKey(apiKeyPepper, `invitation ${secret}`);
}

/** The row with a secret of its own, good for 72 hours from now. */
export function withSecret(
  keys: InvitationKeys,
  tenantId: string,
  row: Omit<StoredInvitation, 'secret_hash' | 'mac' | 'expires_at'>,
  secret: Secret<string>,
  { atMs }: Pick<AuditContext, 'atMs'>,
): StoredInvitation {
  const made = {
    ...row,
    secret_hash: hashInvitationSecret(keys, secret.reveal()),
    mac: Buffer.alloc(0),
    expires_at: new Date(atMs + LIFE_MS),
  };
  return { ...made, mac: invitationMac(keys.rowMac, grantOf(tenantId, made)) };
}

/** What of a stored invitation its MAC is over. */
export function grantOf(tenantId: string, row: StoredInvitation): InvitationRow {
  const { id, email, email_key: emailKey, role, secret_hash: secretHash, expires_at: expiresAt } = row;
  return { tenantId, id, email, emailKey, role, secretHash, expiresAt };
}

export function invitationBodyOf(tenantId: string, row: StoredInvitation, nowMs: number): InvitationBody {
  return {
    id: row.id,
    tenant_id: tenantId,
    email: row.email,
    role: row.role as GivenRole, // Its MAC was checked: only these are ever written.
    status: row.expires_at.getTime() > nowMs ? 'PENDING' : 'EXPIRED',
    expires_at: formatDate(row.expires_at.getTime()),
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    ...(row.modified_by !== null && { modified_by: row.modified_by }),
    ...(row.modified_at !== null && { modified_at: formatDate(row.modified_at.getTime()) }),
  };
}
