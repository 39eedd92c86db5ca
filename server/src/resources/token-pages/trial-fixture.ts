import type { SliceTrial } from '../../testing/slice-trial.js';

/** Its calls take no key; the tests in this folder try them. */
export const trial: SliceTrial = { routes: [], successes: {} };
