import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Bytes that passed between us and the platform's cryptography, as they were then and as they are now. */
export interface CapturedBytes {
  readonly what: string;
  readonly was: Buffer;
  readonly now: Uint8Array;
}

export interface Capture {
  readonly all: readonly CapturedBytes[];
  /** From now on no cipher comes to its end. */
  failCiphers(): void;
  stop(): void;
}

type Call = (...args: unknown[]) => unknown;
type Calls = Record<string, Call>;

const KEY_BYTES = 32;

/**
 * Stands between the product and `node:crypto` and keeps hold of every buffer with plaintext or key bytes: what is
 * enciphered, deciphered, hashed or made a key of, and what comes out as a key.
 */
export function captureBytes(): Capture {
  const capture = new PlatformCapture();
  capture.replaceCiphers();
  capture.replaceHashes();
  capture.replaceKeyMakers();
  syncBuiltinESMExports();
  return capture;
}

class PlatformCapture implements Capture {
  readonly all: CapturedBytes[] = [];
  readonly #platform = crypto as unknown as Calls; // Its members are replaced by name, all in the same way.
  readonly #originals = new Map<string, Call>();
  #isFailing = false;

  failCiphers(): void {
    this.#isFailing = true;
  }

  stop(): void {
    for (const [name, original] of this.#originals) this.#platform[name] = original;
    syncBuiltinESMExports();
  }

  replaceCiphers(): void {
    this.#replace('createCipheriv', (original, args) => {
      this.#keep('key of a cipher', args[1]);
      const cipher = original(...args) as Calls;
      around(cipher, 'update', (update, given) => {
        this.#keep('plaintext to seal', given[0]);
        return update(...given);
      });
      around(cipher, 'final', (final) => {
        if (this.#isFailing) throw new Error('the cipher failed');
        return final();
      });
      return cipher;
    });
    this.#replace('createDecipheriv', (original, args) => {
      this.#keep('key of a decipher', args[1]);
      const decipher = original(...args) as Calls;
      around(decipher, 'update', (update, given) => {
        const opened = update(...given);
        this.#keep('plaintext that was opened', opened);
        return opened;
      });
      return decipher;
    });
  }

  replaceHashes(): void {
    this.#replace('createHmac', (original, args) => {
      const mac = original(...args) as Calls;
      around(mac, 'update', (update, given) => {
        if (!isPlaceOfKey(given[0])) this.#keep('message of a keyed hash', given[0]);
        return update(...given);
      });
      return mac;
    });
    this.#replace('hash', (original, args) => {
      this.#keep('hashed', args[1]);
      return original(...args);
    });
  }

  replaceKeyMakers(): void {
    for (const name of ['createSecretKey', 'createPrivateKey']) {
      this.#replace(name, (original, args) => {
        const [given] = args;
        const bytes = given instanceof Uint8Array ? given : (given as { key?: unknown } | undefined)?.key;
        this.#keep('bytes of a key', bytes);
        return original(...args);
      });
    }
    for (const name of ['hkdfSync', 'diffieHellman', 'randomBytes']) {
      this.#replace(name, (original, args) => {
        const made = original(...args) as Uint8Array | ArrayBuffer;
        // Shorter ones are nonces, salts and names.
        if (made.byteLength === KEY_BYTES) this.#keep(`made by ${name}`, made);
        return made;
      });
    }
  }

  #replace(name: string, act: (original: Call, args: unknown[]) => unknown): void {
    this.#originals.set(name, around(this.#platform, name, act));
  }

  #keep(what: string, value: unknown): void {
    const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
    if (bytes instanceof Uint8Array && bytes.length > 0) this.all.push({ what, was: Buffer.from(bytes), now: bytes });
  }
}

/** Puts `act` around a member, and gives back what was there. */
function around(calls: Calls, name: string, act: (original: Call, args: unknown[]) => unknown): Call {
  const original = calls[name]?.bind(calls);
  if (original === undefined) throw new Error(`there is no ${name}`);
  calls[name] = (...args) => act(original, args);
  return original;
}

/** What a key is derived by says where it belongs, which is no secret. */
function isPlaceOfKey(message: unknown): boolean {
  return Buffer.isBuffer(message) && (message.length === 1 || message.includes('strongroom/message-key/'));
}

/** What is still there of what was captured. */
export function unwiped({ all }: Capture): string[] {
  return all.filter(({ now }) => now.some((byte) => byte !== 0)).map(({ what, was }) => `${what}, ${was.length} bytes`);
}

export function holdsBytes({ all }: Capture, what: string, text: string): boolean {
  return all.some((captured) => captured.what === what && captured.was.includes(text));
}
