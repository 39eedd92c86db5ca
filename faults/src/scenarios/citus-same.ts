import type { Scenario } from '../scenario.js';
import { apiKill } from './api-kill.js';
import { importKill, rotationKill } from './command-kill.js';
import { purgeKill } from './purge-kill.js';
import { sigterm } from './sigterm.js';

/** What ends a process of ours is no fault of the cluster, and has to leave as little behind on it as on one server. */
export const ON_CITUS_TOO: readonly Scenario[] = [apiKill, sigterm, rotationKill, purgeKill, importKill].map(
  (scenario) => ({
    ...scenario,
    name: `citus-${scenario.name}`,
    about: `${scenario.about}; on a Citus cluster`,
    needs: [...scenario.needs, 'citus'],
    // The short form has the faults of the cluster itself.
    shortCount: 0,
    longCount: Math.min(scenario.longCount, 10),
    cluster: { ...scenario.cluster, isSpread: true },
  }),
);
