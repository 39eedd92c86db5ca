/** Each piece takes processor time, and about 200 bytes beside its own, whatever its length. */
const PIECES_MAX = 1_000;
const AVERAGE_BYTES_MIN = 64;

/**
 * Whether a body from outside comes in so many and so small pieces that reading on would cost far more than its length says.
 * The last piece of a body may always be shorter.
 */
export function isFragmented(pieces: number, bytes: number): boolean {
  return pieces > PIECES_MAX && bytes < (pieces - 1) * AVERAGE_BYTES_MIN;
}

/** Small pieces are copied into one block after this many; copying large ones would take their memory once more. */
const LOOSE_MAX = 128;
const SMALL_BYTES = 4_096;

/**
 * Collects the pieces of a body in their order. It takes at most the bytes of the body, 32 KiB for pieces that are not yet
 * copied together, and the bytes once more while `take` joins them.
 */
export class BodyCollector {
  #blocks: Buffer[] = [];
  #loose: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    const isSmall = piece.length < SMALL_BYTES;
    if (!isSmall || this.#loose.length === LOOSE_MAX) this.#join();
    if (isSmall) this.#loose.push(piece);
    else this.#blocks.push(piece);
  }

  /** Returns all bytes so far and forgets them. */
  take(): Buffer {
    this.#join();
    const [first = Buffer.alloc(0)] = this.#blocks;
    const whole = this.#blocks.length < 2 ? first : Buffer.concat(this.#blocks);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#blocks = [];
    this.#loose = [];
    this.#bytes = 0;
  }

  #join(): void {
    const [first] = this.#loose;
    if (first === undefined) return;
    this.#blocks.push(this.#loose.length === 1 ? first : Buffer.concat(this.#loose));
    this.#loose = [];
  }
}
