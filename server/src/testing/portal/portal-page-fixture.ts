import assert from 'node:assert/strict';
import { findBrowser } from '@strongroom/test-servers/find.js';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import type { TestApp } from '../test-app.js';

/** A name that is not this machine's own, for what browsers trust less. */
export const OTHER_NAME = 'vault.test';
/** Bounds a hang, not the speed of a machine that others use too. */
const HANGS_MS = 120_000;

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  assert.ok(executablePath !== undefined, 'tests that need a browser are skipped without one');
  return chromium.launch({
    executablePath,
    // Without a graphics processor, one in software takes a seventh of the time of all tests.
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${OTHER_NAME} 127.0.0.1`],
  });
}

/** Somebody at a browser of its own: other cookies, other storage. */
export interface PersonAtBrowser {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Where the Portal is. */
  readonly portal: string;
  /** What broke the policy, went to another origin, or was an error nobody caught. None of it is allowed. */
  readonly faults: string[];
  close(): Promise<void>;
}

export async function openVisitor(browser: Browser, app: Pick<TestApp, 'port'>): Promise<PersonAtBrowser> {
  const origin = `http://localhost:${app.port}`;
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  context.setDefaultTimeout(HANGS_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  await context.exposeFunction('tellViolation', (text: string) => faults.push(`policy: ${text}`));
  await context.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) =>
       tellViolation(event.violatedDirective + ' ' + event.blockedURI));`,
  );
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:')) faults.push(`request: ${url}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  return { page, context, portal: `${origin}/portal`, faults, close: () => context.close() };
}

/** Gives the page a passkey device whose holder always agrees. */
export async function addAuthenticator({ context, page }: PersonAtBrowser): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
}

export async function signInOn(
  { page, portal }: PersonAtBrowser,
  email: string,
  password: string,
  code = '',
): Promise<void> {
  await page.goto(`${portal}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('One-time code').fill(code);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
