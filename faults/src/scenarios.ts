import type { Scenario } from './scenario.js';
import { apiKill } from './scenarios/api-kill.js';

/** Every scenario there is. A new one is a file in `scenarios/` and a line here. */
export const SCENARIOS: readonly Scenario[] = [apiKill];
