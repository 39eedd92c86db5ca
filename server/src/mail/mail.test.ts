import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { eventually } from '../testing/eventually.js';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { createMailSeal } from './content.js';
import { queueMails, recipientsOf } from './mail-fixture.js';

describe('mail of a running app', () => {
  let catcher: MailCatcher;
  let app: TestApp;
  before(async () => {
    catcher = await startMailCatcher();
    const STRONGROOM_SMTP_URL = `smtp://mailer:hunter2-hunter2@127.0.0.1:${catcher.port}`;
    app = await startTestApp({ env: { STRONGROOM_SMTP_URL, STRONGROOM_MAIL_FROM: 'vault@example.com' } });
  });
  after(async () => {
    await app.close();
    await catcher.close();
  });

  it('is sent under the keys of the installation, and neither log nor metrics tell of it', async () => {
    catcher.setReplies((command) => {
      if (/RCPT TO:<eve@/.test(command)) return '550 5.1.1 <eve@example.com> unknown, said mailer:hunter2-hunter2';
      return undefined;
    });
    await queueMails(app.database, ['ann', 'eve'], createMailSeal(app.keyStore.systemKeys.rowMac));
    await eventually('one came and one did not', () => {
      const lines = app.logLines.filter((line) => line.includes('mail not sent, will try again'));
      return catcher.caught.length === 1 && lines.length === 1;
    });
    assert.deepEqual(recipientsOf(catcher), ['ann']);
    const metrics = app.metrics.render();
    assert.match(metrics, /strongroom_mails_total\{outcome="postponed"\} 1/);
    const story = JSON.parse(app.logLines.find((line) => line.includes('mail not sent')) ?? '');
    assert.deepEqual([story.mailKind, story.tries, story.code, story.status], ['test', 1, 'EENVELOPE', 550]);
    for (const text of [app.logLines.join('\n'), metrics]) {
      assert.doesNotMatch(text, /ann@|eve@|s3cr3t|Hello|hunter2|vault@/);
    }
  });

  it('is given up with a line in the security log', async () => {
    await app.db.owner.query('UPDATE mails SET attempts = 9, due_at = now()');
    await eventually('it is told', () => app.logLines.some((line) => line.includes('"mail_dropped"')));
    const line = app.logLines.find((each) => each.includes('"mail_dropped"')) ?? '';
    assert.match(line, /"stream":"security".*"code":"ETOOOFTEN"/);
    const isGone = async () => (await app.db.owner.query('SELECT id FROM mails')).rowCount === 0;
    await eventually('its row is gone', isGone);
  });
});
