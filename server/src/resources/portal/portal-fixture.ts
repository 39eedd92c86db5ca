import assert from 'node:assert/strict';
import { PORTAL_COOKIE } from '../../access/portal-cookie-reader.js';
import type { MemberRole } from '../../access/roles.js';
import { createPasswordHasher } from '../../crypto/password-hash.js';
import { Secret } from '../../kernel/secret.js';
import { DEVICE_COOKIE } from '../../people/devices/devices.js';
import type { TestApp } from '../../testing/test-app.js';
import { TEST_PASSWORD_COST } from '../../testing/test-app.js';
import type { MadeMember } from '../members/member-fixture.js';
import { makeMember } from '../members/member-fixture.js';

export const PASSWORD = 'correct horse battery staple 17';

/** Calls as a page of the Portal makes them. */
export interface Browser {
  /** The cookie as it is sent; empty while nobody is signed in. */
  cookie: string;
  /** The cookie by which the browser is known; empty before the first sign-in. */
  device: string;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): ReturnType<TestApp['call']>;
}

export function openBrowser(app: Pick<TestApp, 'call' | 'baseUrl'>): Browser {
  const browser: Browser = {
    cookie: '',
    device: '',
    async call(method, path, body, headers = {}) {
      const cookies = [browser.cookie, browser.device].filter((each) => each !== '').join('; ');
      const sent = {
        Origin: app.baseUrl,
        ...(cookies && { Cookie: cookies }),
        ...headers,
      };
      const answer = await app.call(method, path, {
        headers: sent,
        ...(body !== undefined && { body }),
      });
      for (const line of answer.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        if (pair.startsWith(`${PORTAL_COOKIE}=`)) browser.cookie = pair.endsWith('=') ? '' : pair;
        if (pair.startsWith(`${DEVICE_COOKIE}=`)) browser.device = pair;
      }
      return answer;
    },
  };
  return browser;
}

/** Gives a user a password, past the API. */
export async function givePassword(app: TestApp, userId: string, password = PASSWORD): Promise<void> {
  const rowMacKey = app.keyStore.systemKeys.rowMac;
  const hash = await createPasswordHasher({ rowMacKey, cost: TEST_PASSWORD_COST }).hash(userId, new Secret(password));
  await app.db.owner.query('INSERT INTO user_passwords (user_id, hash, changed_at) VALUES ($1, $2, now())', [
    userId,
    hash,
  ]);
}

export interface Person extends MadeMember {
  readonly browser: Browser;
}

/** A member who is signed in. */
export async function makePerson(app: TestApp, tenantId: string, role: MemberRole): Promise<Person> {
  const member = await makeMember(app, tenantId, role);
  await givePassword(app, member.userId);
  const browser = openBrowser(app);
  const { status } = await browser.call('POST', '/portal/api/sign-in', { email: member.email, password: PASSWORD });
  assert.equal(status, 200);
  return { ...member, browser };
}
