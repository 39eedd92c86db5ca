import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, createHash, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import { encodeParts } from './encode-parts.js';
import { IntegrityError } from './integrity-error.js';
import { FILE_KEY_BYTES, openHeader, readHeader, SEALED_HEADER_BYTES_MAX, sealHeader } from './sealed-stream-header.js';
import type { StreamLock, StreamUnlock } from './sealed-stream-keys.js';
import { withWiped } from './wiped.js';

export const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const COUNTER_AT = 5;
const FINAL_AT = 11;
const KEY_BYTES = 32;
const LABEL = 'strongroom/sealed-stream/payload/1';

/** Takes plaintext in pieces of any size and gives what is to be written, in order. */
export interface StreamSealer {
  update(plaintext: Buffer): Buffer;
  /** The last chunk, marked as such. A stream without it does not open to its end. */
  end(): Buffer;
  /** Wipes what waits to be sealed, where the stream does not come to its end. */
  abandon(): void;
}

/** Takes the sealed stream in pieces and gives plaintext that is proven, chunk by chunk: the caller's to wipe. */
export interface StreamOpener {
  update(sealed: Buffer): Promise<Buffer>;
  /** The rest. Only when this has come back is it certain that nothing was cut off. */
  end(): Promise<Buffer>;
}

/**
 * Seals a stream of any length. `context` says what the stream is, such as the third segment: under another context it
 * does not open, so that one part cannot stand in for another.
 */
export function sealStream(lock: StreamLock, context: readonly string[]): StreamSealer {
  const { access, wrappingKey } = lock.nextAccess();
  const { header, key } = withWiped(randomBytes(FILE_KEY_BYTES), (fileKey) => {
    const sealed = sealHeader(access, wrappingKey, fileKey);
    return { header: sealed, key: payloadKey(fileKey, sealed, context) };
  });
  const waiting = Buffer.alloc(CHUNK_BYTES);
  let waitingBytes = 0;
  let counter = 0;
  let head: Buffer = header;

  function sealWaiting(isFinal: boolean): Buffer {
    const cipher = createCipheriv(CIPHER, key, nonceOf(counter, isFinal), { authTagLength: TAG_BYTES });
    counter += 1;
    const ciphertext = cipher.update(waiting.subarray(0, waitingBytes));
    cipher.final();
    waitingBytes = 0;
    return Buffer.concat([ciphertext, cipher.getAuthTag()]);
  }

  function withHeader(chunks: readonly Buffer[]): Buffer {
    const sealed = Buffer.concat([head, ...chunks]);
    head = Buffer.alloc(0);
    return sealed;
  }

  return {
    update(plaintext) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < plaintext.length; ) {
        // A full chunk waits until it is known not to be the last one.
        if (waitingBytes === CHUNK_BYTES) chunks.push(sealWaiting(false));
        const taken = plaintext.copy(waiting, waitingBytes, at);
        waitingBytes += taken;
        at += taken;
      }
      return withHeader(chunks);
    },
    end: () => withWiped(waiting, () => withHeader([sealWaiting(true)])),
    abandon: () => void waiting.fill(0),
  };
}

export function openStream(unlock: StreamUnlock, context: readonly string[]): StreamOpener {
  let key: KeyObject | undefined;
  let counter = 0;
  let waiting: Buffer = Buffer.alloc(0);

  async function begin(): Promise<KeyObject> {
    const header = readHeader(waiting);
    const opened = withWiped(openHeader(header, await unlock.wrappingKeyOf(header.access)), (fileKey) =>
      payloadKey(fileKey, header.bytes, context),
    );
    waiting = waiting.subarray(header.bytes.length);
    return opened;
  }

  function openChunk(from: KeyObject, sealed: Buffer, isFinal: boolean): Buffer {
    if (sealed.length < TAG_BYTES) throw new IntegrityError('A sealed stream was cut off.');
    const tagAt = sealed.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, from, nonceOf(counter, isFinal), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(tagAt));
    const plaintext = decipher.update(sealed.subarray(0, tagAt));
    try {
      decipher.final();
    } catch {
      plaintext.fill(0);
      throw new IntegrityError(
        'A sealed stream does not open: it was changed, cut off, or is not the part it stands for.',
      );
    }
    // Only an empty stream ends in an empty chunk; otherwise one plaintext could be sealed in two ways.
    if (isFinal && plaintext.length === 0 && counter > 0) throw new IntegrityError('A sealed stream has an empty end.');
    counter += 1;
    return plaintext;
  }

  return {
    async update(sealed) {
      waiting = Buffer.concat([waiting, sealed]);
      if (key === undefined && waiting.length < SEALED_HEADER_BYTES_MAX) return Buffer.alloc(0);
      key ??= await begin();
      const chunks: Buffer[] = [];
      try {
        while (waiting.length > SEALED_CHUNK_BYTES) {
          chunks.push(openChunk(key, waiting.subarray(0, SEALED_CHUNK_BYTES), false));
          waiting = waiting.subarray(SEALED_CHUNK_BYTES);
        }
        return Buffer.concat(chunks);
      } finally {
        for (const chunk of chunks) chunk.fill(0);
      }
    },
    async end() {
      key ??= await begin();
      return openChunk(key, waiting, true);
    },
  };
}

/** A key of this stream alone: the whole header and the context go into it, so a change to either changes every chunk. */
function payloadKey(fileKey: Buffer, header: Buffer, context: readonly string[]): KeyObject {
  const salt = createHash('sha256').update(header).digest();
  const info = encodeParts([LABEL, ...context]);
  return withWiped(Buffer.from(hkdfSync('sha256', fileKey, salt, info, KEY_BYTES)), createSecretKey);
}

/** Counts up, and says whether it is the last: chunks cannot change places, and the end cannot go missing. */
function nonceOf(counter: number, isFinal: boolean): Buffer {
  assert(counter < 2 ** 48, 'a stream has fewer chunks than six bytes count');
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(counter, COUNTER_AT, 6);
  nonce.writeUInt8(isFinal ? 1 : 0, FINAL_AT);
  return nonce;
}
