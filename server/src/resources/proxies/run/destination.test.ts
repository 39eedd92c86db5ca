import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../../kernel/errors.js';
import { destinationUrl, readBaseUrl } from './destination.js';

const BASE = 'https://pay.example/v1/';

function isRefused(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === 'malformed_request';
  }
}

describe('where a request goes', () => {
  for (const [path, query, expected] of [
    ['', '', 'https://pay.example/v1'],
    ['/', '', 'https://pay.example/v1/'],
    ['/charges', 'a=1', 'https://pay.example/v1/charges?a=1'],
    ['//evil.example', '', 'https://pay.example/v1//evil.example'],
    ['/@evil.example', '', 'https://pay.example/v1/@evil.example'],
    ['/a%2Fb', '', 'https://pay.example/v1/a%2Fb'],
    ['/..a/...', '', 'https://pay.example/v1/..a/...'],
    ['/a..%2fb;c', '', 'https://pay.example/v1/a..%2fb;c'],
  ] as const) {
    it(`${JSON.stringify(path)} below the base: ${expected}`, () =>
      assert.equal(destinationUrl(BASE, path, query), expected));
  }

  for (const path of [
    ...['/..', '/../admin', '/./x', '/%2e%2e/admin', '/%2E./admin', '/.%2e', '/a/../../admin', '/a/..'],
    ...[
      '/..\\admin',
      '/\\evil.example',
      '/a#b',
      '/%2e%2e%2fadmin',
      '/a%2F..',
      '/..%5Cadmin',
      '/..;/admin',
      '/.%2e%3Bx',
    ],
  ]) {
    it(`not ${path}`, () => assert.ok(isRefused(() => destinationUrl(BASE, path, ''))));
  }

  it('a base without a path takes any path', () =>
    assert.equal(destinationUrl('https://pay.example', '/x', ''), 'https://pay.example/x'));
});

describe('the address of an ephemeral call', () => {
  for (const text of [
    '',
    'pay.example',
    '/x',
    'ftp://pay.example',
    'https://',
    'https://a@pay.example',
    'https://:b@pay.example',
  ]) {
    it(`not ${JSON.stringify(text)}`, () => assert.ok(isRefused(() => readBaseUrl(text))));
  }
  for (const text of [
    'https://pay.example/?a=1',
    'https://pay.example/#x',
    'javascript:alert(1)',
    'file:///etc/passwd',
  ]) {
    it(`not ${text}`, () => assert.ok(isRefused(() => readBaseUrl(text))));
  }
  it('any other, for the policy to judge', () => {
    for (const text of ['https://pay.example', 'https://pay.example:8443/v1', 'http://10.0.0.1']) {
      assert.equal(readBaseUrl(text), text);
    }
  });
});
