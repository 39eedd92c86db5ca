import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseUrl } from './parse-url.js';

const OFTEN = 20_000;

it('tells what is no URL, however often it is asked', () => {
  const odd = 'http://①.0.0.1\u{10ffff}:99999';
  for (let n = 0; n < OFTEN; n += 1) assert.equal(parseUrl(n % 2 === 0 ? odd : 'http://①.0.0.x.256.256'), undefined);
  assert.equal(parseUrl('https://pay.example/x')?.host, 'pay.example');
});
