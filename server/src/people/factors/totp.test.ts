import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../../kernel/secret.js';
import { bytesOfBase32, hotp, matchTotp, newTotpSecret, TOTP_STEP_MS, totpUri } from './totp.js';

const RFC_KEY = Buffer.from('12345678901234567890');
const RFC_SECRET = new Secret('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');

describe('one-time codes', () => {
  it('are those of RFC 4226, appendix D', () => {
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'];
    assert.deepEqual(
      codes.map((_, counter) => hotp(RFC_KEY, counter)),
      codes,
    );
  });

  it('are those of RFC 6238, appendix B', () => {
    const table: [number, string][] = [
      [59, '94287082'],
      [1_111_111_109, '07081804'],
      [1_111_111_111, '14050471'],
      [1_234_567_890, '89005924'],
      [2_000_000_000, '69279037'],
      [20_000_000_000, '65353130'],
    ];
    for (const [seconds, code] of table) {
      assert.equal(hotp(RFC_KEY, Math.floor(seconds / 30), 8), code);
      assert.equal(matchTotp(RFC_SECRET, code.slice(2), seconds * 1_000), Math.floor(seconds / 30));
    }
  });

  it('the secret of the RFC in base 32 is the key of the RFC, and RFC 4648 has these vectors', () => {
    assert.deepEqual(bytesOfBase32(RFC_SECRET.reveal()), RFC_KEY);
    const vectors = { MY: 'f', MZXQ: 'fo', MZXW6: 'foo', MZXW6YQ: 'foob', MZXW6YTB: 'fooba', MZXW6YTBOI: 'foobar' };
    for (const [text, plain] of Object.entries(vectors)) assert.equal(bytesOfBase32(text).toString(), plain);
    assert.throws(() => bytesOfBase32('MZXW1'), /base 32/);
  });

  it('match one step early and one step late, not two, and tell which step', () => {
    const at = 50_000;
    const nowMs = at * TOTP_STEP_MS + 12_345;
    const found = [-2, -1, 0, 1, 2].map((away) => matchTotp(RFC_SECRET, hotp(RFC_KEY, at + away), nowMs));
    assert.deepEqual(found, [undefined, at - 1, at, at + 1, undefined]);
    assert.equal(matchTotp(RFC_SECRET, hotp(RFC_KEY, 0), 0), 0);
  });

  it('a code with spaces matches; text that is no code does not', () => {
    const code = hotp(RFC_KEY, 1);
    assert.equal(matchTotp(RFC_SECRET, ` ${code.slice(0, 3)} ${code.slice(3)} `, TOTP_STEP_MS), 1);
    const wrong = ['', code.slice(1), `${code}0`, `-${code.slice(1)}`, '٢٨٧٠٨٢', 'abcdef', '1e5000'];
    for (const text of wrong) assert.equal(matchTotp(RFC_SECRET, text, TOTP_STEP_MS), undefined, text);
  });
});

describe('a secret for an authenticator', () => {
  it('has 160 bits and is another one each time', () => {
    const [one, two] = [newTotpSecret(), newTotpSecret()];
    assert.equal(bytesOfBase32(one.reveal()).length, 20);
    assert.notEqual(one.reveal(), two.reveal());
    assert.equal(String(one), '[secret]');
  });

  it('is told as a URI in which no account can add a parameter or another issuer', () => {
    assert.equal(
      totpUri(RFC_SECRET, { issuer: 'Strongroom', account: 'ann@example.com' }),
      `otpauth://totp/Strongroom:ann%40example.com?secret=${RFC_SECRET.reveal()}&issuer=Strongroom&algorithm=SHA1&digits=6&period=30`,
    );
    const hostile = new URL(totpUri(RFC_SECRET, { issuer: 'A&B', account: 'x?secret=AAAA&issuer=Evil:y#z' }));
    assert.equal(hostile.searchParams.get('secret'), RFC_SECRET.reveal());
    assert.deepEqual(hostile.searchParams.getAll('issuer'), ['A&B']);
    assert.equal(decodeURIComponent(hostile.pathname).split(':').length, 2);
  });
});
