import type { Findings } from './page/results.js';
import { measureCapacity } from './parts/capacity.js';
import { measureGrowth } from './parts/growth.js';
import { measureHttp } from './parts/http.js';
import { measureLogs } from './parts/logs.js';
import { measureMemory } from './parts/memory.js';
import { measureOverload } from './parts/overload.js';
import { measureRedis } from './parts/redis.js';
import { measureServer } from './parts/server.js';
import { measureStart } from './parts/start.js';
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
  logs: measureLogs,
  tenants: measureTenants,
  workers: measureWorkers,
  server: measureServer,
  redis: measureRedis,
  overload: measureOverload,
  memory: measureMemory,
  capacity: measureCapacity,
};
