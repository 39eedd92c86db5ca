import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const ALL = '/tenants/self/invitations';

describe('invitations by mail', () => {
  let catcher: MailCatcher;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    catcher = await startMailCatcher();
    app = await startTestApp({
      env: {
        STRONGROOM_SMTP_URL: `smtp://127.0.0.1:${catcher.port}`,
        STRONGROOM_MAIL_FROM: 'vault@example.com',
        STRONGROOM_PORTAL_URL: 'https://vault.example',
      },
    });
    tenant = await app.makeTenant('Payments');
  });
  after(async () => {
    await app.close();
    await catcher.close();
  });

  it('send the link to whom they invite, and show it to nobody else', async () => {
    const body = { email: 'ada@example.com', role: 'READ_ONLY' };
    const { status, json, text } = await app.call('POST', ALL, { key: tenant.key, body });
    assert.equal(status, 201);
    assert.deepEqual([json.link, text.includes('accept#')], [undefined, false]);
    await eventually('the mail', () => catcher.caught.length === 1);
    const again = await app.call('POST', `${ALL}/${json.id}/resend`, { key: tenant.key });
    assert.deepEqual([again.status, again.json.link], [200, undefined]);
    await eventually('another mail', () => catcher.caught.length === 2);
    const links = catcher.caught.map((mail) => {
      assert.deepEqual(mail.to, ['ada@example.com']);
      const plain = mail.data.replaceAll('=\r\n', '').replaceAll('=3D', '=');
      return (
        /https:\/\/vault\.example\/portal\/invitations\/accept#[0-9A-Za-z]{43}/.exec(plain)?.[0] ?? assert.fail(plain)
      );
    });
    assert.equal(new Set(links).size, 2);
    assert.equal(app.logLines.join('').includes('accept#'), false);
  });

  it('are no invitations where mail cannot be sent: nothing of a refused one is queued', async () => {
    const { status, json } = await app.call('POST', ALL, {
      key: tenant.key,
      body: { email: `${'a'.repeat(65)}@example.com` },
    });
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['email']]);
    assert.equal(catcher.caught.length, 2);
  });
});
