import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSmtpUrl } from './smtp-url.js';

describe('the address of an SMTP server', () => {
  it('asks for TLS on every way to another machine', () => {
    const table: [string, string, number][] = [
      ['smtp://mail.example.com', 'starttls', 587],
      ['smtp://mail.example.com:25', 'starttls', 25],
      ['smtp://10.0.0.5', 'starttls', 587],
      ['smtp://localhost.example.com', 'starttls', 587],
      ['smtp://0.0.0.0', 'starttls', 587],
      ['smtps://mail.example.com', 'tls', 465],
      ['smtps://localhost', 'tls', 465],
      ['smtp://localhost:2525', 'plain', 2_525],
      ['smtp://127.0.0.1', 'plain', 587],
      ['smtp://[::1]:25/', 'plain', 25],
    ];
    for (const [text, way, port] of table) {
      const target = parseSmtpUrl(text);
      assert.deepEqual([target?.way, target?.port, target?.login], [way, port, undefined], text);
    }
    assert.equal(parseSmtpUrl('smtp://[::1]')?.host, '::1');
  });

  it('may have a login, whose characters may be encoded', () => {
    assert.deepEqual(parseSmtpUrl('smtps://ann%40example.com:p%3A%2Fw@mail.example.com')?.login, {
      user: 'ann@example.com',
      password: 'p:/w',
    });
  });

  it('has no options, path or half a login', () => {
    for (const bad of [
      ...['', 'mail.example.com', 'http://mail.example.com', 'smtp:', 'smtp://', 'smtp://:25', 'smtp://h:99999'],
      ...['smtp://h?ignoreTLS=true', 'smtp://h/?tls.rejectUnauthorized=false', 'smtp://h/path', 'smtp://h#x'],
      ...['smtp://user@h', 'smtp://:pass@h', 'smtp://%zz:pass@h'],
    ]) {
      assert.equal(parseSmtpUrl(bad), undefined, bad);
    }
  });
});
