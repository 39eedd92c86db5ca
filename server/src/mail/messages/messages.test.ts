import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../../kernel/secret.js';
import type { MailMessage } from '../mailer.js';
import { ACCOUNT_CHANGES, accountChangeMessage } from './account-change.js';
import { emailChangeMessageToNew, emailChangeMessageToOld } from './email-change.js';
import { invitationMessage } from './invitation.js';
import { newDeviceMessage } from './new-device.js';
import { passwordResetMessage } from './password-reset.js';
import { PortalLink } from './portal-link.js';

const PORTAL = 'https://vault.example.com';
const link = new PortalLink(PORTAL, '/portal/invitations/accept', new Secret('s3cr3t-_'));
const HREF = 'https://vault.example.com/portal/invitations/accept#s3cr3t-_';
const expiresAtMs = Date.UTC(2026, 10, 16, 23, 59);

/** Every message, with this in place of each value that somebody can choose. */
function messagesWith(value: string): MailMessage[] {
  return [
    invitationMessage({ tenantName: value, inviter: value, role: value, expiresAtMs, link }),
    invitationMessage({ tenantName: value, inviter: undefined, role: 'ADMIN', expiresAtMs, link }),
    passwordResetMessage({ expiresAtMs, link }),
    emailChangeMessageToOld({ newEmail: value, expiresAtMs, link }),
    emailChangeMessageToNew({ expiresAtMs, link }),
    newDeviceMessage({ atMs: expiresAtMs, address: value, device: value, link }),
    ...ACCOUNT_CHANGES.map((change) => accountChangeMessage({ change, atMs: expiresAtMs, link })),
  ];
}

const linesOf = (message: MailMessage) => message.text.split('\n').length;

describe('messages', () => {
  it('say the same as text and as HTML, with their link in both', () => {
    for (const { kind, subject, text, html } of messagesWith('Acme')) {
      assert.ok(subject.length > 10 && kind.length > 5);
      assert.ok(text.includes(`\n${HREF}\n`), kind);
      assert.ok(html.includes(`href="${HREF}"`), kind);
      for (const paragraph of text.split('\n\n')) {
        assert.ok(html.includes(paragraph.trim().replaceAll("'", '&#39;')), `${kind}: ${paragraph}`);
      }
    }
    const [invitation] = messagesWith('Acme');
    assert.equal(invitation?.subject, 'Invitation to Acme on Strongroom');
    assert.match(invitation?.text ?? '', /until 2026-11-16 23:59 UTC/);
  });

  it('tell each change of an account in words of its own', () => {
    assert.deepEqual([...ACCOUNT_CHANGES].sort(), [
      ...['authenticator_added', 'authenticator_removed', 'email_changed', 'identity_linked', 'identity_unlinked'],
      ...['mailbox_proven', 'operator_reset', 'operator_reset_all'],
      ...['passkey_added', 'passkey_removed', 'password_changed', 'password_reset'],
      ...['recovery_code_used', 'recovery_codes_made'],
    ]);
    const told = ACCOUNT_CHANGES.map((change) => accountChangeMessage({ change, atMs: expiresAtMs, link }));
    assert.equal(new Set(told.map(({ text }) => text)).size, ACCOUNT_CHANGES.length);
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ACCOUNT_CHANGES,
    );
  });

  it('fetch nothing and link to the Portal alone', () => {
    for (const { html } of messagesWith('<img src="https://evil.example/x.png">')) {
      const tags = new Set([...html.matchAll(/<\/?([!a-z]+)/gi)].map(([, tag]) => tag));
      assert.deepEqual([...tags].sort(), ['!doctype', 'a', 'body', 'head', 'html', 'meta', 'p']);
      assert.doesNotMatch(html, /url\(|@import/i);
      assert.deepEqual(
        [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href),
        [HREF],
      );
    }
  });

  it('show HTML in a value as the text that it is', () => {
    for (const { html } of messagesWith(`<b onclick='x'>&"`)) {
      assert.doesNotMatch(html, /<b |onclick='/);
    }
    assert.ok(messagesWith('<b>&"\'')[0]?.html.includes('&lt;b&gt;&amp;&quot;&#39;'));
  });

  it('no value adds a line, a header or a hidden character', () => {
    const hostile = 'Acme\r\nBcc: eve@evil.example\r\n\r\nHello\u2028\u202e\u0000\u200bx\u0085';
    const plain = messagesWith('Acme');
    for (const [at, message] of messagesWith(hostile).entries()) {
      assert.equal(linesOf(message), linesOf(plain[at] ?? assert.fail()), message.kind);
      assert.doesNotMatch(message.subject, /[\p{Cc}\u2028\u202e\u200b]/u);
      assert.doesNotMatch(message.text.replaceAll('\n', ''), /[\p{Cc}\u2028\u202e\u200b]/u);
    }
  });

  it('no value looks like a link to a mail program, and a long one is cut', () => {
    for (const { subject, text, html } of messagesWith('Pay at https://evil.example/now or www.evil.example')) {
      for (const each of [subject, text, html]) assert.doesNotMatch(each, /evil\.example|:\/\/evil|www\.evil/);
    }
    const [long] = messagesWith('x'.repeat(10_000));
    assert.ok((long?.subject.length ?? 0) < 300);
    assert.doesNotThrow(() => messagesWith('half a pair: \ud800'));
  });
});

describe('a link to the Portal', () => {
  it('keeps the path of the Portal, and holds its secret behind #', () => {
    assert.equal(
      new PortalLink('https://x.example/a/', '/portal/account').reveal(),
      'https://x.example/a/portal/account',
    );
    assert.equal(link.reveal(), HREF);
    assert.ok(!JSON.stringify({ link }).includes('s3cr3t'));
  });

  it('leads nowhere else', () => {
    const wrong: [string, string, string | undefined][] = [
      ['javascript:alert(1)', '/portal', undefined],
      ['https://u:p@x.example', '/portal', undefined],
      ['https://x.example?a=b', '/portal', undefined],
      ['nonsense', '/portal', undefined],
      [PORTAL, '//evil.example', undefined],
      [PORTAL, '/portal/../..', undefined],
      [PORTAL, '@evil.example/portal', undefined],
      [PORTAL, '/portal', 'a b"<'],
      [PORTAL, '/portal', ''],
    ];
    for (const [url, path, secret] of wrong) {
      const made = () => new PortalLink(url, path, secret === undefined ? undefined : new Secret(secret));
      assert.throws(made, /assertion failed/, `${url} ${path} ${secret}`);
    }
  });
});
