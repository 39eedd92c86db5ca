import type { CheckSeal, SealManifest } from '../storage/backup/seal.js';

/** For tests about something else than seals: writes one that says nothing, and takes every one. */
export const ANY_SEAL: { readonly sealManifest: SealManifest; readonly checkSeal: CheckSeal } = {
  sealManifest: () => () => 'of a test\n',
  checkSeal: () => {},
};
