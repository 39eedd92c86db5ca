// needs: processes

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { systemClock } from '../kernel/clock.js';
import { createMailSeal } from '../mail/content.js';
import { enqueueMail } from '../mail/outbox.js';
import type { CommandSettings } from '../testing/command-runner.js';
import { runToEnd, urlOf } from '../testing/command-runner.js';
import type { TestApp } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';

const SECRETS = /hunter2|hush|ann@|vault@/;

describe('strongroom doctor on what people need', () => {
  let app: TestApp;
  let catcher: MailCatcher;
  let folder: string;
  let settings: CommandSettings;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-doctor-'));
    catcher = await startMailCatcher();
    app = await startTestApp();
    settings = { STRONGROOM_DATABASE_URL: urlOf(app.db.target), STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal() };
  });
  after(async () => {
    await app?.close();
    await catcher?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Its lines; never with a secret or an address of a person, and always 0: the API works without any of this. */
  async function doctor(more: CommandSettings = {}): Promise<string[]> {
    const { code, stdout, stderr } = await runToEnd({ ...settings, ...more }, 'doctor');
    assert.equal(code, 0, stdout + stderr);
    assert.doesNotMatch(stdout + stderr, SECRETS);
    return stdout.split('\n');
  }
  const about = (lines: readonly string[], what: string) => lines.filter((line) => line.slice(9).startsWith(what));
  const smtp = (port: number): CommandSettings => ({
    STRONGROOM_SMTP_URL: `smtp://robot:hunter2@127.0.0.1:${port}`,
    STRONGROOM_MAIL_FROM: 'vault@example.com',
  });

  it('what is not set is no fault', async () => {
    const lines = await doctor({ STRONGROOM_PORT: '8123' });
    assert.deepEqual(about(lines, 'portal'), [
      'ok       portal: http://localhost:8123, for browsers on this machine: STRONGROOM_PORTAL_URL is not set',
    ]);
    assert.deepEqual(about(lines, 'mail'), [
      'ok       mail: none is sent, STRONGROOM_SMTP_URL is not set',
      'ok       mail queue: no mail waits',
    ]);
    assert.deepEqual(about(lines, 'issuer'), ['ok       issuers: none, nobody signs in with OpenID Connect']);
  });

  it('recommends that searches find only what is revealed, as a warning in production', async () => {
    const [line = ''] = about(await doctor(), 'advice');
    assert.match(line, /^ok +advice: STRONGROOM_SEARCH_DATA is masked.* Set it to revealed/);
    const [warning = ''] = about(await doctor({ STRONGROOM_ENV: 'production' }), 'advice');
    assert.match(warning, /^warning +advice: STRONGROOM_SEARCH_DATA is masked/);
    assert.deepEqual(about(await doctor({ STRONGROOM_SEARCH_DATA: 'revealed' }), 'advice'), []);
  });

  it('says that the SMTP server answers, how many mails wait and since when; sends none and does not sign in', async () => {
    const [firstMs, secondMs] = [Date.UTC(2026, 4, 1, 12), Date.UTC(2026, 4, 2, 12)];
    for (const nowMs of [secondMs, firstMs]) {
      const message = { kind: 'invitation', subject: 'Hello', text: 'Text', html: '<p>Text</p>' };
      const clock = { ...systemClock, nowMs: () => nowMs };
      const seal = createMailSeal(app.keyStore.systemKeys.rowMac);
      await app.database.people((tx) => enqueueMail({ seal, clock }, tx, { recipient: 'ann@example.com', message }));
    }
    const lines = await doctor(smtp(catcher.port));
    assert.deepEqual(about(lines, 'mail'), [
      `ok       mail: the SMTP server at 127.0.0.1:${catcher.port} answers`,
      'ok       mail queue: 2 mails wait, since 2026-05-01T12:00:00.000+00:00',
    ]);
    assert.deepEqual(catcher.caught, []);
    assert.ok(catcher.commands.length > 0);
    assert.deepEqual(
      catcher.commands.filter((command) => /^(AUTH|MAIL|RCPT|DATA)/i.test(command)),
      [],
    );
    assert.match(
      about(await doctor(), 'mail queue').join(),
      /^warning .*2 mails wait.*STRONGROOM_SMTP_URL is not set$/,
    );
    await app.db.owner.query('DELETE FROM mails');
  });

  it('a warning for an SMTP server that nobody reaches, and for one that refuses', async () => {
    catcher.setReplies(() => '554 5.7.1 vault@example.com is not welcome');
    const refused = about(await doctor(smtp(catcher.port)), 'mail:').join();
    assert.match(refused, /^warning {2}mail: the SMTP server at 127\.0\.0\.1:\d+ cannot be used \(\w+ 554\); /);
    catcher.setReplies(() => undefined);
    await catcher.refuse();
    const absent = about(await doctor(smtp(catcher.port)), 'mail:').join();
    assert.match(absent, /^warning {2}mail: the SMTP server at 127\.0\.0\.1:\d+ cannot be used \(\w+\); /);
    await catcher.accept();
  });

  for (const [url, expected] of [
    ['https://vault.example.com', /^ok {7}portal: https:\/\/vault\.example\.com$/],
    ['http://localhost:8080', /^ok {7}portal: http:\/\/localhost:8080$/],
    ['http://vault.example.com', /^warning {2}portal: http:\/\/vault\.example\.com is plain HTTP/],
    ['https://192.0.2.7:8443', /^warning {2}portal: https:\/\/192\.0\.2\.7:8443 is an address of numbers/],
    ['https://[2001:db8::7]', /^warning {2}portal: https:\/\/\[2001:db8::7\] is an address of numbers/],
    ['http://127.0.0.1:8080', /^warning {2}portal: http:\/\/127\.0\.0\.1:8080 is an address of numbers/],
  ] as const) {
    it(`the Portal at ${url}`, async () => {
      assert.match(about(await doctor({ STRONGROOM_PORTAL_URL: url }), 'portal').join(), expected);
    });
  }

  it('a warning for each issuer that cannot be asked, with its name and no secret', async () => {
    const file = join(folder, 'issuers.json');
    const issuer = (name: string) => ({
      ...{ name, issuer: `https://127.0.0.1:${catcher.port}/${name}`, client_id: 'portal', client_secret: 'hush' },
    });
    await writeFile(file, JSON.stringify([issuer('One'), issuer('Two')]), { mode: 0o600 });
    const lines = about(await doctor({ STRONGROOM_OIDC_ISSUERS_FILE: file }), 'issuer');
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /^warning {2}issuer 1 of 2, One: a request to the issuer failed \(\w+\)$/);
    assert.match(lines[1] ?? '', /^warning {2}issuer 2 of 2, Two: /);
  });
});
