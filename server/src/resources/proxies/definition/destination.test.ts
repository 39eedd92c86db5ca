import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { destinationFault } from './destination.js';

const BEGINNING = 'must begin with https:// and a host name';
const NO_URL = 'must be a URL with the name of a host';
const ADDRESS = 'must name a host, not an IP address';

describe('the address of a destination', () => {
  for (const text of [
    ...['https://a.example', 'https://a.example/', 'HTTPS://A.Example/v1/', 'https://a.example:8443/v1', 'https://a'],
    ...[
      'https://a.example./x',
      'https://xn--bcher-kva.example',
      'https://bücher.example',
      'https://a_b.example/%2e%2e/x',
    ],
    ...['https://a.example/@me', 'https://127.0.0.1.a.example'],
  ]) {
    it(`is taken: ${text}`, () => assert.equal(destinationFault(text), undefined));
  }

  for (const [message, texts] of [
    [BEGINNING, ['', 'a.example', 'http://a.example', 'ftp://a.example', '//a.example', ' https://a.example']],
    [BEGINNING, ['https:a.example', 'https:/a.example', 'https:\\\\a.example', 'javascript:1', 'https', 'https:']],
    [BEGINNING, ['https://', 'https:///a.example']],
    [NO_URL, ['https://a b', 'https://a.example/ b', 'https://a.example\n']],
    [NO_URL, ['https://a.example\\b', 'https://a\texample', 'https://a..example', `https://${'a'.repeat(64)}.example`]],
    [NO_URL, ['https://a.example:0', 'https://a.example:99999', 'https://a.example:x', 'https://*.example']],
    [NO_URL, ['https://a.0x4', 'https://[::1', 'https://[fe80::1%25eth0]', 'https://a.example/\u0000']],
    ['must have no user name or password', ['https://u@a.example', 'https://u:p@a.example', 'https://@a.example']],
    ['must have no fragment', ['https://a.example#', 'https://a.example/x#y', 'https://a.example/?a#b']],
    ['must have no query: the one of each call is added', ['https://a.example?', 'https://a.example/x?y=z']],
    [ADDRESS, ['https://127.0.0.1', 'https://127.1', 'https://2130706433', 'https://0x7f000001', 'https://0x7f.1']],
    [ADDRESS, ['https://0177.0.0.1', 'https://127.0.0.1.', 'https://%31%32%37.0.0.1', 'https://１２７.0.0.1']],
    [ADDRESS, ['https://[::1]', 'https://[::ffff:10.0.0.1]:8443/x', 'https://8.8.8.8:443', 'https://1.2.3']],
  ] as const) {
    for (const text of texts) {
      it(`${message}: ${JSON.stringify(text)}`, () => assert.equal(destinationFault(text), message));
    }
  }
});
