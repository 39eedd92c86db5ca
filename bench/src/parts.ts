import type { Findings } from './page/results.js';
import { measureBuilds, measureBuildsByUrl } from './parts/builds.js';
import { measureCapacity } from './parts/capacity.js';
import { measureCombinations } from './parts/combinations.js';
import { measureDistributed } from './parts/distributed.js';
import { measureGrowth } from './parts/growth.js';
import { measureHttp } from './parts/http.js';
import { measureLogs } from './parts/logs.js';
import { measureMemory } from './parts/memory.js';
import { measureNeighbours } from './parts/neighbours.js';
import { measureOverload } from './parts/overload.js';
import { measurePortal } from './parts/portal.js';
import { measureProxies } from './parts/proxies.js';
import { measureReactors } from './parts/reactors.js';
import { measureRedis } from './parts/redis.js';
import { measureServer } from './parts/server.js';
import { measureSignIn } from './parts/sign-in.js';
import { measureStart } from './parts/start.js';
import { measureSteps } from './parts/steps.js';
import { measureTenants } from './parts/tenants.js';
import { measureVault } from './parts/vault.js';
import { measureWorkers } from './parts/workers.js';
import { measureWrite } from './parts/write.js';
import type { Bench } from './plan.js';

/** Every part by its name, in the order of the page. */
export const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Findings>>> = {
  start: measureStart,
  http: measureHttp,
  write: measureWrite,
  vault: measureVault,
  growth: measureGrowth,
  combinations: measureCombinations,
  logs: measureLogs,
  tenants: measureTenants,
  workers: measureWorkers,
  server: measureServer,
  distributed: measureDistributed,
  redis: measureRedis,
  overload: measureOverload,
  neighbours: measureNeighbours,
  steps: measureSteps,
  'sign-in': measureSignIn,
  portal: measurePortal,
  reactors: measureReactors,
  proxies: measureProxies,
  memory: measureMemory,
  capacity: measureCapacity,
  builds: measureBuilds,
  'builds-by-url': measureBuildsByUrl,
};
