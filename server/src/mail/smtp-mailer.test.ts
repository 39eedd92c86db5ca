import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { MailCatcher, MailReply } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { EndSource } from '../kernel/end-signal.js';
import { eventually } from '../testing/eventually.js';
import { MailError } from './mailer.js';
import { createSmtpMailer, examineSmtp } from './smtp-mailer.js';
import { parseSmtpUrl } from './smtp-url.js';

const mail = {
  id: '0b7e6f0e-4c1a-4f6e-9d3a-5f1c2e7a9b10',
  recipient: 'ann@example.com',
  kind: 'invitation',
  subject: 'Invitation to “Zoë & Co”',
  text: 'Hello\n.\n.. dots\nhttps://vault.example.com/portal#s3cr3t\n',
  html: '<p>Hello</p>',
};

describe('a mail on its way to the server', () => {
  let catcher: MailCatcher;
  before(async () => {
    catcher = await startMailCatcher();
  });
  after(() => catcher.close());
  afterEach(async () => {
    catcher.setReplies(() => undefined);
    await eventually('no connection is left', () => catcher.connections() === 0);
  });

  const send = (given: Partial<typeof mail> = {}, url = `smtp://127.0.0.1:${catcher.port}`, end = new EndSource()) => {
    const target = parseSmtpUrl(url) ?? assert.fail();
    return createSmtpMailer({ target, from: 'vault@example.com' }).send({ ...mail, ...given }, end);
  };

  /** What the mailer says of a reply; nothing in it may be the server's or the mail's words. */
  async function failureWith(replyTo: (command: string) => MailReply, url?: string): Promise<MailError> {
    catcher.setReplies(replyTo);
    const error = await send({}, url).then(
      () => assert.fail('it was sent'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof MailError, String(error));
    assert.doesNotMatch(inspect(error, { depth: 9 }), /ann@|example\.com|s3cr3t|Invitation|quoted/);
    return error;
  }

  it('arrives with both forms, one recipient, and nothing of this machine', async () => {
    const from = catcher.caught.length;
    await send();
    const [arrived = assert.fail(), ...others] = catcher.caught.slice(from);
    assert.deepEqual([arrived.from, arrived.to, others.length], ['vault@example.com', ['ann@example.com'], 0]);
    assert.match(arrived.data, /^From: Strongroom <vault@example\.com>$/m);
    assert.match(arrived.data, /^To: ann@example\.com$/m);
    assert.match(arrived.data, new RegExp(`^Message-ID: <${mail.id}@example.com>$`, 'm'));
    assert.match(arrived.data, /^Auto-Submitted: auto-generated$/m);
    assert.match(arrived.data, /multipart\/alternative/);
    assert.match(arrived.data, /^\.$/m);
    assert.ok(arrived.data.includes('https://vault.example.com/portal#s3cr3t'));
    assert.ok(catcher.commands.includes('EHLO example.com'));
  });

  it('has no header that a subject adds', async () => {
    const from = catcher.caught.length;
    await send({ subject: 'Hi\r\nBcc: eve@evil.example\r\n\r\nbody' });
    const [arrived = assert.fail()] = catcher.caught.slice(from);
    assert.doesNotMatch(arrived.data, /^Bcc:/im);
    assert.deepEqual(arrived.to, ['ann@example.com']);
  });

  it('is sent after a login where the address has one', async () => {
    await send({}, `smtp://ann:p%40ss@127.0.0.1:${catcher.port}`);
    const login = catcher.commands.find((command) => command.startsWith('AUTH PLAIN '))?.slice('AUTH PLAIN '.length);
    assert.equal(Buffer.from(login ?? '', 'base64').toString(), '\u0000ann\u0000p@ss');
    const refused = await failureWith(
      (command) => (command.startsWith('AUTH') ? '535 5.7.8 quoted p@ss' : undefined),
      `smtp://ann:p%40ss@127.0.0.1:${catcher.port}`,
    );
    assert.deepEqual([refused.code, refused.status, refused.isFinal], ['EAUTH', 535, false]);
  });

  it('does not leave in the clear for another machine: without STARTTLS nothing but the greeting is said', async () => {
    const [mails, commands] = [catcher.caught.length, catcher.commands.length];
    // An address that leads here, and that counts as another machine by its text.
    const error = await failureWith(() => undefined, `smtp://u:p@0.0.0.0:${catcher.port}`);
    assert.equal(error.isFinal, false);
    assert.equal(catcher.caught.length, mails);
    const said = catcher.commands.slice(commands).filter((command) => !/^(EHLO|STARTTLS|QUIT)/.test(command));
    assert.deepEqual(said, []);
  });

  it('says whether the server may take it later, by code and status alone', async () => {
    const at = (verb: string, reply: string) => (command: string) => (command.startsWith(verb) ? reply : undefined);
    const table: [string, string, number | undefined, boolean][] = [
      ['RCPT', '550 5.1.1 quoted <ann@example.com> unknown', 550, true],
      ['RCPT', '450 4.2.1 quoted try later', 450, false],
      ['MAIL', '421 4.3.2 quoted closing', undefined, false],
      ['DATA', '554 5.7.1 quoted', 554, true],
      ['.', '452 4.3.1 quoted no room', 452, false],
      ['.', '552 5.2.2 quoted', 552, true],
    ];
    for (const [verb, reply, status, isFinal] of table) {
      const error = await failureWith(at(verb, reply));
      assert.deepEqual([error.status, error.isFinal], [status, isFinal], `${verb} ${reply}`);
    }
    for (const phase of ['', 'EHLO', 'RCPT', '.']) {
      const error = await failureWith((command) => (command.startsWith(phase) ? 'hang up' : undefined));
      assert.deepEqual([error.status, error.isFinal], [undefined, false], phase);
    }
  });

  it('fails where nobody listens', async () => {
    await catcher.refuse();
    const error = await failureWith(() => undefined);
    assert.equal(error.isFinal, false);
    await catcher.accept();
    await send();
  });

  it('ends at once when it is told to, wherever the server keeps it waiting', async () => {
    for (const phase of ['', 'EHLO', 'MAIL', 'DATA', '.']) {
      const end = new EndSource();
      let isWaiting = false;
      catcher.setReplies((command) => {
        if (phase !== '' && !command.startsWith(phase)) return undefined;
        isWaiting = true;
        return 'silence';
      });
      const sending = send({}, undefined, end);
      await eventually('the server keeps silent', () => isWaiting);
      end.abort(undefined);
      await assert.rejects(sending, { code: 'EENDED' });
      await eventually('the connection is gone', () => catcher.connections() === 0);
    }
  });

  it('ends after its time, however busily the server answers', async () => {
    catcher.setReplies((command) => (command.startsWith('RCPT') ? 'silence' : undefined));
    const target = parseSmtpUrl(`smtp://127.0.0.1:${catcher.port}`) ?? assert.fail();
    const mailer = createSmtpMailer({ target, from: 'vault@example.com', sendMaxMs: 50 });
    await assert.rejects(mailer.send(mail, new EndSource()), { code: 'ETOOSLOW' });
  });

  it('a look at the server ends after its time, wherever it keeps silent, and sends nothing', async () => {
    const mails = catcher.caught.length;
    const target = parseSmtpUrl(`smtp://ann:p%40ss@127.0.0.1:${catcher.port}`) ?? assert.fail();
    const look = (sendMaxMs: number) => examineSmtp({ target, from: 'vault@example.com', sendMaxMs });
    for (const phase of ['', 'EHLO']) {
      catcher.setReplies((command) => (command.startsWith(phase) ? 'silence' : undefined));
      assert.equal((await look(50))?.code, 'ETOOSLOW', phase);
    }
    catcher.setReplies(() => undefined);
    assert.equal(await look(60_000), undefined);
    assert.equal(catcher.caught.length, mails);
  });
});
