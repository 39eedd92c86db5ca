/** Limits for very small pieces: handling one costs the same time, and about 200 bytes of memory, whatever its length. */
const PIECES_MAX = 1_000;
const AVERAGE_BYTES_MIN = 64;

/**
 * Watches whether a body from outside comes in so many and so small pieces that reading on would cost far more than its length
 * says. Every thousand pieces are looked at by themselves, so that a large piece allows no more small ones.
 */
export class FragmentWatch {
  #pieces = 0;
  #bytes = 0;
  #isFragmented = false;

  /** Stays true once it is. */
  get isFragmented(): boolean {
    return this.#isFragmented;
  }

  /** Counts a piece. Returns whether the pieces before it were too many and too small. */
  add(bytes: number): boolean {
    if (this.#pieces === PIECES_MAX) {
      if (this.#bytes < PIECES_MAX * AVERAGE_BYTES_MIN) this.#isFragmented = true;
      this.#pieces = 0;
      this.#bytes = 0;
    }
    this.#pieces += 1;
    this.#bytes += bytes;
    return this.#isFragmented;
  }
}

/** Number of small pieces that are copied into one block. Large pieces are kept as they are, to save the second copy. */
const LOOSE_MAX = 128;
const SMALL_BYTES = 4_096;

/**
 * Collects the pieces of a body in order. Uses at most the length of the body plus 32 KiB, and twice the length while `take`
 * joins the blocks.
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
