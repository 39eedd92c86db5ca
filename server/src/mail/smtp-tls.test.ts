import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Certificates } from '@strongroom/test-servers/certificates.js';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import type { MailCatcher, MailCatcherTls } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { EndSource } from '../kernel/end-signal.js';
import { MailError } from './mailer.js';
import { createSmtpMailer } from './smtp-mailer.js';
import { parseSmtpUrl } from './smtp-url.js';

/** Leads to this machine, and counts as another one by its text: nothing may be said to it in the clear. */
const HOST = '0.0.0.0';
const mail = { id: 'i', recipient: 'ann@example.com', kind: 'test', subject: 's', text: 't', html: '<p>t</p>' };

describe('the way to an SMTP server on another machine', () => {
  let folder: string;
  let files: Certificates;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-smtp-'));
    files = certificatesIn(folder);
    for (const name of ['authority', 'stranger']) await files.makeAuthority(name);
    await files.makeCertificate('right', 'authority', 'mail', `IP:${HOST}`);
    await files.makeCertificate('other', 'authority', 'mail', 'DNS:mail.example.com');
    await files.makeCertificate('over', 'authority', 'mail', `IP:${HOST}`, -1);
    await files.makeCertificate('foreign', 'stranger', 'mail', `IP:${HOST}`);
  });
  after(() => rm(folder, { recursive: true }));

  const read = (name: string) => readFile(files.file(name), 'utf8');

  /** Sends a mail to a server with this certificate, and hands on what it was sent. */
  async function sendTo(name: string, from: MailCatcherTls['from']): Promise<{ catcher: MailCatcher; error: unknown }> {
    const catcher = await startMailCatcher({ from, key: await read(`${name}.key`), cert: await read(`${name}.pem`) });
    const scheme = from === 'start' ? 'smtps' : 'smtp';
    const target = parseSmtpUrl(`${scheme}://user:hunter2@${HOST}:${catcher.port}`) ?? assert.fail();
    const authorities = [await read('authority.pem')];
    const mailer = createSmtpMailer({ target, from: 'vault@example.com', authorities });
    const error = await mailer.send(mail, new EndSource()).catch((reason: unknown) => reason);
    await catcher.close();
    return { catcher, error };
  }

  for (const from of ['start', 'STARTTLS'] as const) {
    it(`is taken with TLS from ${from}, and the login and the mail come after it`, async () => {
      const { catcher, error } = await sendTo('right', from);
      assert.equal(error, undefined);
      assert.equal(catcher.caught.length, 1);
      const verbs = catcher.commands.map((command) => command.split(/[ :]/)[0]).filter((verb) => verb !== 'QUIT');
      const before = from === 'STARTTLS' ? ['EHLO', 'STARTTLS'] : [];
      assert.deepEqual(verbs, [...before, 'EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA', '.']);
    });

    it(`is not taken with TLS from ${from} where the server does not prove who it is`, async () => {
      for (const name of ['other', 'over', 'foreign']) {
        const { catcher, error } = await sendTo(name, from);
        assert.ok(error instanceof MailError && !error.isFinal, name);
        assert.deepEqual(catcher.caught, [], name);
        const said = catcher.commands.filter((command) => !/^(EHLO|STARTTLS)/.test(command));
        assert.deepEqual(said, [], name);
      }
    });
  }
});
