import { randomUUID } from 'node:crypto';
import type { MemberRole } from '../../access/roles.js';
import { operatorContext } from '../../audit/entry.js';
import type { Clock } from '../../kernel/clock.js';
import { systemClock } from '../../kernel/clock.js';
import { emailKeyOf } from '../../people/email.js';
import { createLinks } from '../../people/links/links.js';
import { addressMacOf } from '../../people/users/address-mac.js';
import type { UserAdministration } from '../../people/users/administration.js';
import { createUserAdministration } from '../../people/users/administration.js';
import type { TestApp } from '../../testing/test-app.js';
import { addMember } from './index.js';

export interface MadeMember {
  readonly memberId: string;
  readonly userId: string;
  readonly email: string;
}

/** What the operator's commands use; nobody is told by mail. */
export function makeAdministration(app: Pick<TestApp, 'database' | 'keyStore'>, clock: Clock): UserAdministration {
  const { systemKeys } = app.keyStore;
  const links = createLinks({ clock, keys: systemKeys });
  const notices = { tell: async () => {} };
  return createUserAdministration({ database: app.database, clock, links, rowMacKey: systemKeys.rowMac, notices });
}

/** Makes a user past the API, whose address is proven. */
export async function makeUser(app: Pick<TestApp, 'db' | 'keyStore'>, email: string): Promise<string> {
  const userId = randomUUID();
  const verifiedAt = new Date(systemClock.nowMs());
  const mac = addressMacOf(app.keyStore.systemKeys.rowMac, userId, { email, verifiedAt });
  await app.db.owner.query(
    `INSERT INTO users (id, email, email_key, email_mac, email_verified_at, created_at) VALUES ($1, $2, $3, $4, $5, now())`,
    [userId, email, emailKeyOf(email), mac, verifiedAt],
  );
  return userId;
}

/** A new user who is a member, made past the API. */
export async function makeMember(
  app: Pick<TestApp, 'db' | 'database' | 'keyStore'>,
  tenantId: string,
  role: MemberRole,
  email = `${randomUUID()}@example.com`,
): Promise<MadeMember> {
  const userId = await makeUser(app, email);
  const { rowMac } = app.keyStore.systemKeys;
  const member = await app.database.write(tenantId, (tx) =>
    addMember(tx, rowMac, operatorContext(systemClock.nowMs()), { userId, role }),
  );
  if (!member) throw new Error('assertion failed: a new user is no member yet');
  return { memberId: member.id, userId, email };
}
