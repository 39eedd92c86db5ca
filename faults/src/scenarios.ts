import type { Scenario } from './scenario.js';
import { apiKill } from './scenarios/api-kill.js';
import { backendKill } from './scenarios/backend-kill.js';
import { citusCommitHang, citusCommitKill } from './scenarios/citus-commit.js';
import { citusFailover } from './scenarios/citus-failover.js';
import { citusCoordinatorKill, citusStartWithoutWorker, citusWorkerKill } from './scenarios/citus-kill.js';
import { citusShardMove } from './scenarios/citus-move.js';
import { citusNetworkCut, citusNetworkHole } from './scenarios/citus-network.js';
import { ON_CITUS_TOO } from './scenarios/citus-same.js';
import { clockJump } from './scenarios/clock-jump.js';
import { codeStorm } from './scenarios/code-storm.js';
import { backupKill, importKill, rotationKill } from './scenarios/command-kill.js';
import { commitCut } from './scenarios/commit-cut.js';
import { dataDiskFull, powerCut, walDiskFull } from './scenarios/disk.js';
import { engineDiskFull } from './scenarios/engine-disk.js';
import { apiKillDuringRuns, engineKill } from './scenarios/engine-kill.js';
import { failover } from './scenarios/failover.js';
import { flippedBytes } from './scenarios/flipped-bytes.js';
import { migrateKill } from './scenarios/migrate-kill.js';
import { networkHole, networkRefused, networkReset, networkSlow } from './scenarios/network.js';
import { callbackFaults, nameFaults } from './scenarios/outside-faults.js';
import { postgresKill } from './scenarios/postgres-kill.js';
import { apiKillDuringStream, destinationFaults, postgresGoneForProxy, proxyStorm } from './scenarios/proxy-faults.js';
import { purgeKill } from './scenarios/purge-kill.js';
import { apiKillWithQueue, postgresKillWithQueue } from './scenarios/queued-runs.js';
import { redisFlush, redisKill, redisSlow, redisStop } from './scenarios/redis.js';
import { sigterm } from './scenarios/sigterm.js';
import { connectionsUsedUp, lockHeld } from './scenarios/starvation.js';

/** Every scenario there is. A new one is a file in `scenarios/` and a line here. */
export const SCENARIOS: readonly Scenario[] = [
  apiKill,
  sigterm,
  postgresKill,
  backendKill,
  lockHeld,
  connectionsUsedUp,
  redisKill,
  redisStop,
  redisFlush,
  redisSlow,
  clockJump,
  networkHole,
  networkReset,
  networkSlow,
  networkRefused,
  commitCut,
  flippedBytes,
  migrateKill,
  rotationKill,
  purgeKill,
  importKill,
  backupKill,
  failover,
  powerCut,
  dataDiskFull,
  walDiskFull,
  engineKill,
  apiKillDuringRuns,
  codeStorm,
  engineDiskFull,
  apiKillWithQueue,
  postgresKillWithQueue,
  callbackFaults,
  nameFaults,
  destinationFaults,
  postgresGoneForProxy,
  apiKillDuringStream,
  proxyStorm,
  citusWorkerKill,
  citusCoordinatorKill,
  citusCommitKill,
  citusCommitHang,
  citusStartWithoutWorker,
  citusNetworkCut,
  citusNetworkHole,
  citusShardMove,
  citusFailover,
  ...ON_CITUS_TOO,
];
