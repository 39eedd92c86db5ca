import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { macOf } from '../crypto/keyed-hash.js';
import { createPasswordHasher } from '../crypto/password-hash.js';
import { systemClock } from '../kernel/clock.js';
import { Secret } from '../kernel/secret.js';
import { createMailSeal } from '../mail/content.js';
import { enqueueMail } from '../mail/outbox.js';
import { replaceEmailChange } from '../people/email-change/queries.js';
import { withChangeMac } from '../people/email-change/stored-change.js';
import { createOneTimeCodes } from '../people/factors/one-time-codes.js';
import { confirmAuthenticator, offerAuthenticator } from '../people/factors/queries.js';
import { newTotpSecret } from '../people/factors/totp.js';
import { createLinks } from '../people/links/links.js';
import { insertIdentity } from '../people/oidc/queries.js';
import { createChallenges } from '../people/passkeys/challenges.js';
import { insertPasskey } from '../people/passkeys/queries.js';
import { createPortalSessions } from '../people/sessions/portal-sessions.js';
import { setPassword } from '../people/sign-in/queries.js';
import { insertUser } from '../people/users/queries.js';
import { TABLES_OF_PEOPLE } from '../resources.js';
import type { Process, RotationVault } from './rotation-fixture.js';
import { createFakeTime, createRotationVault } from './rotation-fixture.js';
import type { Fault } from './verify.js';
import { verifyKeys } from './verify.js';

const PEOPLE = 3;
const PASSWORD = new Secret('correct horse battery staple 17');
const NAMES = TABLES_OF_PEOPLE.map(({ name }) => name);

describe('rows of people are verified', () => {
  let vault: RotationVault;
  let command: Process;
  before(async () => {
    vault = await createRotationVault();
    command = await vault.open();
    for (let n = 0; n < PEOPLE; n += 1) await makePerson();
  });
  after(() => vault.close());

  /** Somebody with a row in each table. MACs of passkeys and identities are written a second time here. */
  async function makePerson(): Promise<void> {
    const { database, keyStore } = command;
    const keys = keyStore.systemKeys;
    const [id, nowMs] = [randomUUID(), systemClock.nowMs()];
    const email = `${id}@example.com`;
    const made = { id: randomUUID(), user_id: id, created_at: new Date(nowMs) };
    const security = { onPeopleAltered: () => assert.fail('nothing is altered yet') };
    const codes = createOneTimeCodes({ clock: systemClock, rowMacKey: keys.rowMac, security });
    const onSessionAltered = () => assert.fail('nothing is altered yet');
    const sessions = createPortalSessions({ database, clock: systemClock, keys, onSessionAltered });
    const hash = await createPasswordHasher({ rowMacKey: keys.rowMac }).hash(id, PASSWORD);
    const profile = { email, isEmailVerified: true, firstName: 'Ada', lastName: undefined };
    await database.people(async (tx) => {
      await insertUser(tx, keys.rowMac, id, profile, nowMs);
      await setPassword(tx, id, hash, nowMs);
      await sessions.open(tx, { userId: id, hasSecondFactor: false, address: undefined, agent: undefined });
      // It has expired when it is looked at.
      await createLinks({ clock: systemClock, keys }).make(tx, id, 'password-reset', -1);
      const offered = codes.sealOffered(id, newTotpSecret());
      await offerAuthenticator(tx, id, offered, nowMs);
      await confirmAuthenticator(tx, id, offered, { sealed: codes.seal(id, newTotpSecret()), step: 1 }, nowMs);
      await offerAuthenticator(tx, id, codes.sealOffered(id, newTotpSecret()), nowMs);
      const passkey = { ...made, credential_id: randomUUID(), public_key: randomBytes(77) };
      const passkeyMac = macOf(keys.rowMac, ['passkey-1', made.id, id, passkey.credential_id, passkey.public_key]);
      await insertPasskey(tx, { ...passkey, transports: [], name: 'Key', is_synced: false, mac: passkeyMac }, 0);
      const [issuer, subject] = ['https://issuer.example.com/', randomUUID()];
      const mac = macOf(keys.rowMac, ['identity-1', made.id, id, issuer, subject]);
      await insertIdentity(tx, { ...made, issuer, subject, mac, used_at: null });
      const change = {
        ...{ user_id: id, email: `new-${email}`, old_email: email, created_at: new Date(nowMs) },
        ...{ old_hash: randomBytes(32), new_hash: randomBytes(32), expires_at: new Date(nowMs) },
      };
      await replaceEmailChange(tx, withChangeMac(keys.rowMac, change));
      const message = { kind: 'invitation', subject: 'Hello', text: 'Text', html: '<p>Text</p>' } as const;
      await enqueueMail({ seal: createMailSeal(keys.rowMac), clock: systemClock }, tx, { recipient: email, message });
    });
    const challenges = createChallenges({ database, clock: systemClock, rowMacKey: keys.rowMac, security });
    await challenges.keep(randomUUID(), 'new passkey', id);
  }

  async function verify(): Promise<{ found: Fault[]; rows: number }> {
    const found: Fault[] = [];
    const { wait } = createFakeTime();
    const options = {
      ...{ ...command, wait, tables: [], peopleTables: TABLES_OF_PEOPLE, onProgress: () => {} },
      onFault: (fault: Fault) => found.push(fault),
    };
    const { rows, faults } = await verifyKeys(options, nobody());
    assert.equal(faults, found.length);
    return { found, rows };
  }

  async function* nobody(): AsyncGenerator<string> {}

  it('each is counted once, and nothing is reported', async () => {
    const systemKeys = 5;
    assert.deepEqual(await verify(), { found: [], rows: systemKeys + PEOPLE * NAMES.length });
  });

  it('each is seen once in pages of any size', async () => {
    const { rowMac } = command.keyStore.systemKeys;
    for (const table of TABLES_OF_PEOPLE) {
      for (const limit of [1, 2, PEOPLE, PEOPLE + 1]) {
        let [position, seen]: [string | undefined, number] = ['', 0];
        while (position !== undefined) {
          const from: string = position;
          const step = await command.database.readPeople((tx) => table.verify(tx, rowMac, from, limit));
          assert.deepEqual(step.faults, []);
          assert.ok(step.seen <= limit);
          [position, seen] = [step.next, seen + step.seen];
        }
        assert.equal(seen, PEOPLE, `${table.name} by ${limit}`);
      }
    }
  });

  const FLIP = (column: string, at: number) => `set_byte(${column}, ${at}, get_byte(${column}, ${at}) # 1)`;
  const OTHER_USER = '(SELECT id FROM users u WHERE u.id <> user_id ORDER BY id LIMIT 1)';
  const DAMAGES: readonly (readonly [string, string, string])[] = [
    ['users', 'email', `'thief@example.com'`],
    ['users', 'email', 'NULL'],
    ['users', 'email_mac', 'NULL'],
    ['users', 'email_verified_at', 'NULL'],
    ['users', 'email_mac', FLIP('email_mac', 3)],
    ['user_passwords', 'hash', `'thief@example.com'`],
    ['user_passwords', 'hash', `replace(hash, 'scrypt:17:', 'scrypt:01:')`],
    ['portal_sessions', 'user_id', OTHER_USER],
    ['portal_sessions', 'has_second_factor', 'true'],
    ['portal_sessions', 'issuer', `'corporate'`],
    ['portal_sessions', 'signed_in_at', `signed_in_at + interval '1 second'`],
    ['portal_sessions', 'expires_at', `'infinity'`],
    ['portal_sessions', 'seen_at', `seen_at + interval '1 hour'`],
    ['user_links', 'user_id', OTHER_USER],
    ['user_links', 'purpose', `'set-up'`],
    ['user_links', 'expires_at', `'-infinity'`],
    ['user_authenticators', 'sealed', FLIP('sealed', 20)],
    ['user_authenticators', 'pending', `'\\x01'`],
    ['user_authenticators', 'sealed', '(SELECT sealed FROM user_authenticators ORDER BY user_id LIMIT 1)'],
    ['user_passkeys', 'public_key', FLIP('public_key', 0)],
    ['user_passkeys', 'user_id', OTHER_USER],
    ['passkey_challenges', 'user_id', 'NULL'],
    ['passkey_challenges', 'expires_at', `expires_at + interval '1 hour'`],
    ['user_identities', 'subject', `'thief'`],
    ['user_identities', 'user_id', OTHER_USER],
    ['email_changes', 'email', `'thief@example.com'`],
    ['email_changes', 'old_hash', 'NULL'],
    ['mails', 'sealed', FLIP('sealed', 30)],
    ['mails', 'sealed', '(SELECT sealed FROM mails ORDER BY id LIMIT 1)'],
  ];

  it('each table has a damage here', () => {
    assert.deepEqual([...new Set(DAMAGES.map(([table]) => table))].sort(), [...NAMES].sort());
  });

  for (const [table, column, damage] of DAMAGES) {
    it(`${table}: ${column} = ${damage} is reported by the id of the row, and that row alone`, async () => {
      const { owner } = vault.db;
      const [key, shown] = keyOf(table);
      const { rows } = await owner.query(
        `SELECT ${key} AS key, ${shown} AS shown, ${column} AS value FROM ${table} ORDER BY ${key} DESC LIMIT 1`,
      );
      const [row] = rows;
      await owner.query(`UPDATE ${table} SET ${column} = ${damage} WHERE ${key} = $1`, [row.key]);
      const { found } = await verify();
      await owner.query(`UPDATE ${table} SET ${column} = $2 WHERE ${key} = $1`, [row.key, row.value]);
      assert.deepEqual(found, [{ tenantId: undefined, table, id: row.shown }]);
      assert.doesNotMatch(JSON.stringify(found), /@|thief/);
    });
  }
});

/** The key of a table, and how a row is named. */
function keyOf(table: string): readonly [string, string] {
  if (table === 'user_links' || table === 'passkey_challenges') return ['hash', `encode(hash, 'hex')`];
  const isByUser = ['user_passwords', 'user_authenticators', 'email_changes'].includes(table);
  return isByUser ? ['user_id', 'user_id'] : ['id', 'id'];
}
