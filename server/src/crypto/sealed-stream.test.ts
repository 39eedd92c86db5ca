import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '../kernel/secret.js';
import {
  ExchangeKeyFormatError,
  generateExchangeKey,
  parsePrivateExchangeKey,
  parsePublicExchangeKey,
} from './exchange-key.js';
import { IntegrityError } from './integrity-error.js';
import { CHUNK_BYTES, openStream, sealStream } from './sealed-stream.js';
import type { StreamLock, StreamUnlock } from './sealed-stream-keys.js';
import { identityUnlock, passphraseLock, passphraseUnlock, recipientLock } from './sealed-stream-keys.js';

const vectorFile = (name: string) => readFileSync(new URL(`../../src/crypto/vectors/${name}`, import.meta.url));
// Computed once by an independent implementation. A test that fails here means old exports can no longer be read.
const vectors = JSON.parse(vectorFile('sealed-stream.json').toString());

const CONTEXT = ['a test', '1'];
const SEALED_CHUNK_BYTES = CHUNK_BYTES + 16;
const RECIPIENT_HEADER_BYTES = 102;
/** Fast enough to be tried a hundred times; what is sealed for real takes the full factor. */
const LIGHT = { workFactor: 10 };

function pair(): { lock: StreamLock; unlock: StreamUnlock } {
  const { publicText, privateText } = generateExchangeKey();
  return {
    lock: recipientLock(parsePublicExchangeKey(publicText)),
    unlock: identityUnlock(parsePrivateExchangeKey(privateText.reveal())),
  };
}

function seal(lock: StreamLock, plaintext: Buffer, pieceBytes = 50_000, context = CONTEXT): Buffer {
  const sealer = sealStream(lock, context);
  const sealed: Buffer[] = [];
  for (let at = 0; at < plaintext.length; at += pieceBytes) {
    sealed.push(sealer.update(plaintext.subarray(at, at + pieceBytes)));
  }
  return Buffer.concat([...sealed, sealer.end()]);
}

async function open(unlock: StreamUnlock, sealed: Buffer, pieceBytes = 70_000, context = CONTEXT): Promise<Buffer> {
  const opener = openStream(unlock, context);
  const opened: Buffer[] = [];
  for (let at = 0; at < sealed.length; at += pieceBytes) {
    opened.push(await opener.update(sealed.subarray(at, at + pieceBytes)));
  }
  return Buffer.concat([...opened, await opener.end()]);
}

const pattern = (length: number) => Buffer.from(Array.from({ length }, (_, n) => (n * 7 + 3) % 251));

async function assertRefused(unlock: StreamUnlock, sealed: Buffer, circumstance: string, context = CONTEXT) {
  await assert.rejects(open(unlock, sealed, 70_000, context), IntegrityError, circumstance);
}

describe('fixed vectors of the sealed stream', () => {
  it('a passphrase opens what it always opened', async () => {
    const { passphrase, context, plaintext, sealedHex } = vectors.passphrase;
    const opened = await open(passphraseUnlock(new Secret(passphrase)), Buffer.from(sealedHex, 'hex'), 9, context);
    assert.equal(opened.toString(), plaintext);
  });

  for (const name of ['recipient', 'empty']) {
    it(`an identity opens what it always opened: ${name}`, async () => {
      const { identity, recipient, context, plaintext, sealedHex } = vectors[name];
      const unlock = identityUnlock(parsePrivateExchangeKey(identity));
      assert.equal((await open(unlock, Buffer.from(sealedHex, 'hex'), 9, context)).toString(), plaintext);
      assert.equal(recipientLock(parsePublicExchangeKey(recipient)).name, recipient);
    });
  }

  it('an identity opens two chunks as it always did', async () => {
    const { identity, context, file, plaintextBytes, plaintextSha256 } = vectors.twoChunks;
    const unlock = identityUnlock(parsePrivateExchangeKey(identity));
    const opened = await open(unlock, vectorFile(file), 70_000, context);
    assert.equal(opened.length, plaintextBytes);
    assert.equal(createHash('sha256').update(opened).digest('hex'), plaintextSha256);
    assert.ok(opened.equals(pattern(plaintextBytes)));
  });
});

describe('a sealed stream', () => {
  const { lock, unlock } = pair();

  for (const length of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 7]) {
    it(`opens to the same ${length} bytes, in whatever pieces it comes and goes`, async () => {
      const plaintext = pattern(length);
      for (const [sealPiece, openPiece] of [
        [1_000_000, 1_000_000],
        [CHUNK_BYTES, SEALED_CHUNK_BYTES],
        [4_097, 9_973],
      ] as const) {
        const sealed = seal(lock, plaintext, sealPiece);
        const chunks = Math.max(1, Math.ceil(length / CHUNK_BYTES));
        assert.equal(sealed.length, RECIPIENT_HEADER_BYTES + length + 16 * chunks);
        assert.ok((await open(unlock, sealed, openPiece)).equals(plaintext));
      }
    });
  }

  it('is refused with any one bit of any byte flipped, sealed to a recipient', async () => {
    const sealed = seal(lock, Buffer.from('4111111111111111'));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
      await assertRefused(unlock, changed, `byte ${at}`);
    }
  });

  it('is refused with any one bit of any byte flipped, sealed with a passphrase', async () => {
    const passphrase = new Secret('a passphrase of the test');
    const sealed = seal(await passphraseLock(passphrase, LIGHT), Buffer.from('4111111111111111'));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      // The lowest bit: in the byte of the work factor that stays within what may be asked for.
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      await assertRefused(passphraseUnlock(passphrase), changed, `byte ${at}`);
    }
  });

  it('is refused cut off at every chunk boundary, one byte beside it, and anywhere in a short one', async () => {
    const sealed = seal(lock, pattern(3 * CHUNK_BYTES + 7));
    for (let chunk = 0; chunk <= 3; chunk += 1) {
      const boundary = RECIPIENT_HEADER_BYTES + chunk * SEALED_CHUNK_BYTES;
      for (const at of [boundary - 1, boundary, boundary + 1, boundary + 16, boundary + 17]) {
        await assertRefused(unlock, sealed.subarray(0, at), `cut off at ${at}`);
      }
    }
    const short = seal(lock, Buffer.from('short'));
    for (let at = 0; at < short.length; at += 1) await assertRefused(unlock, short.subarray(0, at), `cut off at ${at}`);
  });

  it('is refused with chunks swapped, left out, repeated, or more behind its end', async () => {
    const sealed = seal(lock, pattern(3 * CHUNK_BYTES + 7));
    const header = sealed.subarray(0, RECIPIENT_HEADER_BYTES);
    const chunk = (n: number) =>
      sealed.subarray(RECIPIENT_HEADER_BYTES + n * SEALED_CHUNK_BYTES).subarray(0, SEALED_CHUNK_BYTES);
    const orders = { swapped: [1, 0, 2, 3], 'left out': [0, 2, 3], repeated: [0, 0, 1, 2, 3], longer: [0, 1, 2, 3, 3] };
    for (const [circumstance, order] of Object.entries(orders)) {
      await assertRefused(unlock, Buffer.concat([header, ...order.map(chunk)]), circumstance);
    }
    await assertRefused(unlock, Buffer.concat([sealed, Buffer.from([0])]), 'one byte more');
    await assertRefused(unlock, Buffer.concat([sealed, sealed]), 'the stream twice');
  });

  it('is refused with the header or a chunk of another stream of the same lock', async () => {
    const [one, two] = [seal(lock, pattern(100)), seal(lock, pattern(100))];
    const crossed = Buffer.concat([one.subarray(0, RECIPIENT_HEADER_BYTES), two.subarray(RECIPIENT_HEADER_BYTES)]);
    await assertRefused(unlock, crossed, 'chunks of another stream');
  });

  it('is refused as what it is not: under another context', async () => {
    const sealed = seal(lock, Buffer.from('x'), 10, ['segment', '1']);
    for (const context of [['segment', '2'], ['segment'], ['segment', '1', ''], ['segment1'], []]) {
      await assertRefused(unlock, sealed, context.join(), context);
    }
  });

  it('is refused with another passphrase, another identity, and the one in place of the other', async () => {
    const passphrase = new Secret('the right passphrase');
    const byPassphrase = seal(await passphraseLock(passphrase, LIGHT), Buffer.from('x'));
    const byRecipient = seal(lock, Buffer.from('x'));
    await assertRefused(passphraseUnlock(new Secret('the wrong passphrase')), byPassphrase, 'another passphrase');
    await assertRefused(pair().unlock, byRecipient, 'another identity');
    await assertRefused(unlock, byPassphrase, 'an identity for a passphrase');
    await assertRefused(passphraseUnlock(passphrase), byRecipient, 'a passphrase for an identity');
  });

  it('is refused with a public key of low order, and with a work factor beyond bounds before any work', async () => {
    const sealed = seal(lock, Buffer.from('x'));
    const low = Buffer.concat([sealed.subarray(0, 10), Buffer.alloc(32), sealed.subarray(42)]);
    await assertRefused(unlock, low, 'low order');
    const passphrase = new Secret('a passphrase of the test');
    const heavy = Buffer.from(seal(await passphraseLock(passphrase, LIGHT), Buffer.from('x')));
    for (const factor of [0, 9, 21, 31, 255]) {
      heavy.writeUInt8(factor, 10);
      await assertRefused(passphraseUnlock(passphrase), heavy, `factor ${factor}`);
    }
  });

  it('gives no plaintext before it is proven: nothing of a changed chunk, all of those before it', async () => {
    const plaintext = pattern(2 * CHUNK_BYTES + 9);
    const sealed = Buffer.from(seal(lock, plaintext));
    const second = RECIPIENT_HEADER_BYTES + SEALED_CHUNK_BYTES;
    sealed.writeUInt8(sealed.readUInt8(second) ^ 1, second);
    const opener = openStream(unlock, CONTEXT);
    const first = await opener.update(sealed.subarray(0, second + 1));
    assert.ok(first.equals(plaintext.subarray(0, CHUNK_BYTES)));
    await assert.rejects(opener.update(sealed.subarray(second + 1)), IntegrityError);
  });

  it('never repeats itself: two streams of one plaintext have nothing in common but the first bytes', async () => {
    const byPassphrase = await passphraseLock(new Secret('a passphrase of the test'), LIGHT);
    for (const own of [lock, byPassphrase]) {
      const [one, two] = [seal(own, pattern(64)), seal(own, pattern(64))];
      assert.ok(!one.subarray(27, 60).equals(two.subarray(27, 60)));
      assert.ok(!one.subarray(-80).equals(two.subarray(-80)));
    }
  });

  it('spells one passphrase one way, however the keyboard composed it', async () => {
    const sealed = seal(await passphraseLock(new Secret('caf\u00e9 au lait sucre'), LIGHT), Buffer.from('x'));
    const opened = await open(passphraseUnlock(new Secret('cafe\u0301 au lait sucre')), sealed);
    assert.equal(opened.toString(), 'x');
  });
});

describe('locks', () => {
  it('a lock like an earlier one has its name with the same passphrase and another name with another', async () => {
    const first = await passphraseLock(new Secret('the right passphrase'), LIGHT);
    const again = await passphraseLock(new Secret('the right passphrase'), { like: first.name });
    const other = await passphraseLock(new Secret('the wrong passphrase'), { like: first.name });
    assert.equal(again.name, first.name);
    assert.notEqual(other.name, first.name);
    assert.notEqual((await passphraseLock(new Secret('the right passphrase'), LIGHT)).name, first.name);
  });

  it('take the full work factor unless told otherwise', async () => {
    const sealed = seal(await passphraseLock(new Secret('the right passphrase')), Buffer.from('x'));
    assert.equal(sealed[10], 17);
  });
});

describe('export keys', () => {
  const { publicText, privateText } = generateExchangeKey();

  it('are refused with any character changed, cut, or the other half given', () => {
    for (let at = 0; at < publicText.length; at += 1) {
      const changed = publicText.slice(0, at) + (publicText[at] === 'A' ? 'B' : 'A') + publicText.slice(at + 1);
      assert.throws(() => parsePublicExchangeKey(changed), ExchangeKeyFormatError, `character ${at}`);
      assert.throws(() => parsePublicExchangeKey(publicText.slice(0, at)), ExchangeKeyFormatError);
    }
    assert.throws(() => parsePublicExchangeKey(privateText.reveal()), /private half/);
    assert.throws(() => parsePrivateExchangeKey(publicText), /public half/);
    parsePublicExchangeKey(` ${publicText}\n`);
  });

  it('show nothing of the private half when printed, and nothing of it in what they refuse', () => {
    const text = privateText.reveal();
    assert.ok(!inspect(privateText).includes(text.slice(11, 20)));
    assert.throws(
      () => parsePublicExchangeKey(text),
      (error: Error) => !inspect(error).includes(text.slice(11, 20)),
    );
  });
});
