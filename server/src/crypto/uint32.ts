import { assert } from '../kernel/assert.js';

const UINT32_MAX = 0xffff_ffff;

/** Versions are stored in four bytes. Buffer would silently cut 1.5 to 1, and two versions would become one. */
export function assertUint32(value: number, name: string): void {
  assert(Number.isInteger(value) && value >= 0 && value <= UINT32_MAX, `${name} is an unsigned 32-bit integer`);
}
