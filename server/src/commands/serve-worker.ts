import { createApp } from '../app.js';
import type { Config } from '../config.js';
import { readConfig } from '../config.js';
import { openCore } from '../core.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { replicaObserver } from '../request-telemetry.js';
import { createMetrics } from '../telemetry/metrics.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { createProcessLog } from '../telemetry/process-log.js';
import { Line } from '../workers/line.js';
import type { Failure, Order } from '../workers/messages.js';
import { expectEnd } from './ending.js';
import { listen } from './listening.js';

/** One of several processes that serve. Database, metrics and the end of all are the keeper's business. */
export async function serveAsWorker(): Promise<number> {
  const line = new Line();
  const order = await line.order;
  // The keeper has migrated.
  const config = { ...readConfig(), port: order.port, migrationDatabaseUrl: undefined };
  const log = createProcessLog({ level: config.logLevel, worker: order.slot });
  const ending = expectEnd(log);
  line.on('stop', ending.ask);
  try {
    const stop = await start(config, log, line, order);
    const code = await ending.code;
    await stop();
    return code;
  } catch (error) {
    const failure = failureOf(error, log);
    await line.tell({ kind: 'failed', failure });
    return failure.exitCode;
  } finally {
    await log.flush();
    line.hangUp();
  }
}

async function start(config: Config, log: ProcessLog, line: Line, order: Order): Promise<() => Promise<void>> {
  const clock = systemClock;
  const nobody = (): void => {};
  const core = await openCore({
    config,
    clock,
    command: 'worker',
    log: nobody,
    onLost: nobody,
    beside: order.server,
    onReplica: replicaObserver(log),
  });
  const metrics = createMetrics();
  const { slot, of } = order;
  const app = createApp({ config, core, clock, log, metrics, worker: { slot, of, askKeeper: line.ask } });
  const stop = async (): Promise<void> => {
    await app.close();
    await core.close();
    await line.tell({ kind: 'figures', id: undefined, text: metrics.render() });
  };
  try {
    line.onScrape(metrics.render);
    line.on('open', () => {
      app.markReady();
      void app.openSandbox();
    });
    const port = await listen(() => app.http.listen(config.host, config.port), config, 'port');
    await line.tell({ kind: 'listening', port });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** For the keeper to show: what a single process would have said. */
function failureOf(error: unknown, log: ProcessLog): Failure {
  if (error instanceof ExitError) return { exitCode: error.exitCode, message: error.message };
  log.main.fatal({ err: error }, 'a worker failed');
  return { exitCode: EXIT.failure, message: 'A worker failed unexpectedly. The log says where.' };
}
