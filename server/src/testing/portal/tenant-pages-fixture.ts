import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { MemberRole } from '../../access/roles.js';
import type { MadeMember } from '../../resources/members/member-fixture.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import type { MailedApp } from '../../resources/portal/mailbox-fixture.js';
import { startMailedApp } from '../../resources/portal/mailbox-fixture.js';
import { givePassword, openBrowser, PASSWORD } from '../../resources/portal/portal-fixture.js';
import type { TestApp, TestTenant } from '../test-app.js';
import type { PersonAtBrowser } from './portal-page-fixture.js';
import { launchBrowser, openVisitor } from './portal-page-fixture.js';

/** Somebody who is signed in, with the pages of one tenant. */
export interface MemberAtBrowser extends PersonAtBrowser {
  readonly email: string;
  readonly memberId: string;
  readonly userId: string;
  /** Opens a page of the tenant, such as `logs?outcome=denied`. */
  open(path: string): Promise<void>;
  /** Waits for a text. */
  reads(text: string | RegExp): Promise<void>;
  click(name: string | RegExp): Promise<void>;
  fill(label: string, value: string): Promise<void>;
  /** Ends the visit. Nothing may have broken the policy, gone elsewhere or thrown. */
  leave(): Promise<void>;
}

export interface PortalOfTenant {
  readonly mailed: MailedApp;
  readonly tenant: TestTenant;
  readonly browser: Browser;
  /** Signs a new member in, in a browser context of its own; through another port, where something stands in between. */
  visit(role?: MemberRole, tenantId?: string, through?: { readonly port: number }): Promise<MemberAtBrowser>;
  close(): Promise<void>;
}

/** An API, a tenant and a browser, for the tests of a page. `env`: settings by variable name. */
export async function startPortalOfTenant(env: Readonly<Record<string, string>> = {}): Promise<PortalOfTenant> {
  const mailed = await startMailedApp(env);
  const tenant = await mailed.app.makeTenant('Ours');
  const browser = await launchBrowser();
  return {
    mailed,
    tenant,
    browser,
    visit: async (role = 'ADMIN', tenantId = tenant.id, through = mailed.app) => {
      const member = await makeMember(mailed.app, tenantId, role);
      await givePassword(mailed.app, member.userId);
      const person = await openVisitor(browser, through);
      await signInAt(mailed.app, person, member.email);
      return atTenant(person, member, tenantId);
    },
    close: async () => {
      await browser.close();
      await mailed.close();
    },
  };
}

/** Signs in as the page does, without opening it: how a page does that is for the tests of the sign-in. */
async function signInAt(app: TestApp, { context }: PersonAtBrowser, email: string): Promise<void> {
  const signedIn = openBrowser(app);
  const { status } = await signedIn.call('POST', '/portal/api/sign-in', { email, password: PASSWORD });
  assert.equal(status, 200);
  const cookies = [signedIn.cookie, signedIn.device].map((pair) => {
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
  // Good for every port, and for a page without TLS, since browsers trust this name.
  const place = { url: 'https://localhost', secure: true, httpOnly: true, sameSite: 'Strict' } as const;
  await context.addCookies(cookies.map((cookie) => ({ ...cookie, ...place })));
}

function atTenant(person: PersonAtBrowser, member: MadeMember, tenantId: string): MemberAtBrowser {
  const { page, portal, faults } = person;
  return {
    ...person,
    ...member,
    open: async (path) => void (await page.goto(`${portal}/tenants/${tenantId}/${path}`)),
    reads: (text) => page.getByText(text).first().waitFor(),
    click: (name) => page.getByRole('button', { name, exact: typeof name === 'string' }).click(),
    fill: (label, value) => page.getByLabel(label, { exact: true }).fill(value),
    leave: async () => {
      assert.deepEqual(faults, [], 'nothing broke the policy, went elsewhere or threw');
      await person.close();
    },
  };
}
