import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { IntegrityError } from '../crypto/integrity-error.js';
import { openStream, sealStream } from '../crypto/sealed-stream.js';
import type { StreamLock, StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { withWiped } from '../crypto/wiped.js';
import { OWNER_ONLY_FILE, publishFile } from './durable-files.js';

/** A file that was finished: what the manifest says of it. */
export interface FinishedFile {
  readonly bytes: number;
  readonly sha256: string;
}

export interface SealedFileWriter {
  /** Wipes what it was given once it is sealed. */
  write(plaintext: Buffer): Promise<void>;
  /** Ends the stream, brings it to the disk, and only then gives the file its name. */
  finish(): Promise<FinishedFile>;
  abandon(): Promise<void>;
}

export const PART_SUFFIX = '.part';
const DIGITS = 6;
const LINE_BYTES_MAX = 16 * 1_048_576;
const NEW_LINE = 0x0a;

export function segmentName(number: number): string {
  return `segment-${String(number).padStart(DIGITS, '0')}.sealed`;
}

export function segmentContext(number: number): readonly string[] {
  return ['token-export-segment', String(number)];
}

export async function createSealedFile(
  path: string,
  lock: StreamLock,
  context: readonly string[],
): Promise<SealedFileWriter> {
  const part = `${path}${PART_SUFFIX}`;
  const handle: FileHandle = await open(part, 'wx', OWNER_ONLY_FILE);
  const sealer = sealStream(lock, context);
  const hash = createHash('sha256');
  let bytes = 0;

  async function append(sealed: Buffer): Promise<void> {
    hash.update(sealed);
    bytes += sealed.length;
    for (let at = 0; at < sealed.length; ) at += (await handle.write(sealed, at)).bytesWritten;
  }

  return {
    write: (plaintext) => append(withWiped(plaintext, (line) => sealer.update(line))),
    async finish() {
      await append(sealer.end());
      await handle.sync();
      await handle.close();
      await publishFile(part, path);
      return { bytes, sha256: hash.digest('hex') };
    },
    abandon() {
      sealer.abandon();
      return handle.close();
    },
  };
}

/** The digest of a file as it lies there. */
export async function digestOf(path: string): Promise<FinishedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path)) {
    const chunk = piece as Buffer; // A stream without an encoding gives buffers.
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** The lines of a sealed file. They are proven one by one; that none is missing at the end, once it is through. */
export async function* sealedLines(
  path: string,
  unlock: StreamUnlock,
  context: readonly string[],
): AsyncGenerator<string> {
  const opener = openStream(unlock, context);
  let waiting: Buffer = Buffer.alloc(0);

  function* wholeWith(opened: Buffer): Generator<string> {
    const joined = Buffer.concat([waiting, opened]);
    for (const copy of [waiting, opened]) copy.fill(0);
    waiting = joined;
    let from = 0;
    for (let end = joined.indexOf(NEW_LINE); end !== -1; end = joined.indexOf(NEW_LINE, from)) {
      yield joined.toString('utf8', from, end);
      from = end + 1;
    }
    joined.fill(0, 0, from);
    waiting = joined.subarray(from);
    if (waiting.length > LINE_BYTES_MAX) throw new IntegrityError('A sealed file has a line that is too long.');
  }

  try {
    for await (const piece of createReadStream(path)) {
      yield* wholeWith(await opener.update(piece as Buffer)); // A stream without an encoding gives buffers.
    }
    yield* wholeWith(await opener.end());
    if (waiting.length > 0) throw new IntegrityError('A sealed file ends in the middle of a line.');
  } finally {
    waiting.fill(0);
  }
}
