import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJsonBody } from './json-guard.js';
import { isKept, withUnkeptNumbers } from './json-numbers.js';

const KEPT = [
  ...['0', '-0', '0.0', '0e99999', '1', '-1', '1.10', '1e2', '1E+2', '100e-2', '0.1', '0.10000000000000001'],
  ...['0.1000000000000000055511151231257827', '0.30000000000000004', '9007199254740991', '9007199254740992'],
  ...['1e300', '5e-324', '1.7976931348623157e308', '2.2250738585072014E-308'],
  ...['12345678901234567000', '16215843869798715400'],
  `1${'0'.repeat(300)}`,
  `0.${'0'.repeat(300)}1e301`,
];
const CHANGED = [
  ...['9007199254740993', '12345678901234567890', '-9007199254740993.0', '1.10000000000000000001'],
  ...['0.1000000000000000055511151231257829', '1e400', '-1e400', '1e-400', '4e-324', '4242424242424242.42'],
  `0.${'3'.repeat(200)}`,
];

test('a number is kept if it comes back as written, or as a double is written with as many digits', () => {
  for (const literal of KEPT) assert.equal(isKept(literal), true, literal);
  for (const literal of CHANGED) assert.equal(isKept(literal), false, literal);
});

test('every double is kept however many digits it is written with', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 16, max: 40 }),
      (value, digits) => {
        assert.equal(isKept(JSON.stringify(value)), true);
        assert.equal(isKept(value.toPrecision(Math.max(digits, 17))), true);
      },
    ),
  );
});

test('every integer is kept exactly when its digits are', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (value) => {
      const isExact = BigInt(Number(value)) === value || String(value).replace(/0+$/, '').length <= 15;
      if (isExact) assert.equal(isKept(String(value)), true);
      if (value !== 0n && isKept(String(value))) {
        const digits = String(value).replace('-', '');
        const significant = digits.replace(/0+$/, '');
        const [shown, exponent] = Math.abs(Number(value))
          .toExponential(significant.length - 1)
          .split('e');
        assert.deepEqual([shown?.replace('.', ''), Number(exponent)], [significant, digits.length - 1]);
      }
    }),
  );
});

test('only numbers that would change become infinity: not in strings, and what is no JSON stays none', () => {
  for (const literal of CHANGED) {
    assert.deepEqual(
      parseJsonBody(Buffer.from(`[${literal}, {"a":${literal}}]`)),
      [Infinity, { a: Infinity }],
      literal,
    );
    const text = `["${literal}","\\"${literal}", "\\\\", 1]`;
    assert.equal(withUnkeptNumbers(text), text);
    for (const broken of [`[0${literal}]`, `[${literal}.]`, `[+${literal}]`, `[${literal}x]`, `[- ${literal}]`]) {
      assert.throws(() => parseJsonBody(Buffer.from(broken)), { code: 'malformed_json' }, broken);
    }
  }
  for (const literal of KEPT) {
    assert.deepEqual(parseJsonBody(Buffer.from(`{"a":[${literal}]}`)), JSON.parse(`{"a":[${literal}]}`), literal);
  }
});

test('a megabyte of digits, and a megabyte of long numbers, take less than a second of work', () => {
  const before = process.cpuUsage();
  parseJsonBody(Buffer.from('7'.repeat(1_000_000)));
  parseJsonBody(Buffer.from(`[${Array(50_000).fill('0.12345678901234567').join(',')}]`));
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 1_000_000);
});
