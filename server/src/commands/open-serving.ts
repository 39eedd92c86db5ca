import type { Config } from '../config.js';
import type { Core } from '../core.js';
import { openCore } from '../core.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { replicaObserver } from '../request-telemetry.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import type { Ending } from './ending.js';

/** Ending a connection at shutdown is reported as FATAL and is none. */
const POSTGRES_TROUBLE = / (WARNING|ERROR|FATAL|PANIC): (?! *terminating connection due to administrator command)/;

/** Database and keys for a process that serves, or that keeps those which do. */
export async function openServing(config: Config, log: ProcessLog, ending: Pick<Ending, 'endWith'>): Promise<Core> {
  const core = await openCore({
    config,
    clock: systemClock,
    command: 'strongroom serve',
    log: (line) => log.main[POSTGRES_TROUBLE.test(line) ? 'warn' : 'debug']({ source: 'postgres' }, line),
    onLost: (reason) => {
      log.main.fatal({ reason }, 'the embedded database cannot be brought back');
      ending.endWith(EXIT.unavailable);
    },
    mayCreate: true,
    onReplica: replicaObserver(log),
  });
  for (const warning of core.warnings) log.main.warn(warning);
  return core;
}
