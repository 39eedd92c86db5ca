import type { SignedIn } from './portal-sessions.js';

const FRESH_MS = 10 * 60_000;

/** Whether the user proved not long ago who it is. */
export function isFreshSignIn({ signedInAtMs }: Pick<SignedIn, 'signedInAtMs'>, nowMs: number): boolean {
  return nowMs - signedInAtMs < FRESH_MS;
}
