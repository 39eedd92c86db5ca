import assert from 'node:assert/strict';
import type { CaughtMail } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import type { Clock } from '../../kernel/clock.js';
import { eventually } from '../../testing/eventually.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

/** An app that sends mail, and where the mail arrives. */
export interface MailedApp {
  readonly app: TestApp;
  /** To be read; `pass` turns it. */
  readonly clock: Clock;
  /** The texts of all mails to this address, once there are so many. */
  mailsTo(email: string, count: number): Promise<string[]>;
  /** Time passes once all that is queued was sent: a mail whose lease runs out meanwhile is sent again. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function startMailedApp(env: Readonly<Record<string, string>> = {}): Promise<MailedApp> {
  const catcher = await startMailCatcher();
  const clock = createFakeClock(Date.now());
  const STRONGROOM_SMTP_URL = `smtp://127.0.0.1:${catcher.port}`;
  const app = await startTestApp({
    clock,
    env: { STRONGROOM_SMTP_URL, STRONGROOM_MAIL_FROM: 'vault@example.com', ...env },
  });
  const allSent = () =>
    eventually('the queue is empty', async () => {
      const { rows } = await app.db.owner.query('SELECT id FROM mails');
      return rows.length === 0;
    });
  return {
    ...{ app, clock },
    async pass(ms) {
      await allSent();
      clock.advance(ms);
    },
    async mailsTo(email, count) {
      await allSent();
      const texts = catcher.caught.filter(({ to }) => to.includes(email)).map(mailTextOf);
      assert.equal(texts.length, count, `mails to ${email}`);
      return texts;
    },
    async close() {
      await app.close();
      await catcher.close();
    },
  };
}

/** What stands behind # in the last of these mails. */
export function secretIn(mails: readonly string[], page: string): string {
  const [, secret] = new RegExp(`/portal/${page}#([0-9A-Za-z]{43})`).exec(mails.at(-1) ?? '') ?? [];
  return secret ?? assert.fail(`no link to ${page}`);
}

/** As people read it: without the joiners that keep mail programs from making links of values. */
export function mailTextOf({ data }: CaughtMail): string {
  return data.replaceAll('=\r\n', '').replaceAll('=E2=81=A0', '').replaceAll('=3D', '=');
}
