/** Every so many milliseconds of latency one counter: enough for percentiles, however long it runs. */
const SLOT_MS = 0.25;
const SLOTS = 80_000;

/** How long answers took, in bounded memory. */
export class Latencies {
  readonly #slots = new Uint32Array(SLOTS);
  slowestMs = 0;

  add(ms: number): void {
    this.slowestMs = Math.max(this.slowestMs, ms);
    const slot = Math.min(SLOTS - 1, Math.floor(ms / SLOT_MS));
    this.#slots[slot] = (this.#slots[slot] ?? 0) + 1;
  }

  percentile(share: number): number {
    let left = share * this.#slots.reduce((sum, times) => sum + times, 0);
    const slot = this.#slots.findIndex((times) => {
      left -= times;
      return left <= 0;
    });
    return slot * SLOT_MS;
  }
}
