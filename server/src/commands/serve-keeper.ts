import type { Config } from '../config.js';
import { beginInstallation } from '../first-start.js';
import { systemClock } from '../kernel/clock.js';
import { ExitError } from '../kernel/exit.js';
import { createOwnCounter } from '../rate-counting.js';
import { addProcessGauges } from '../request-telemetry.js';
import { createMetrics } from '../telemetry/metrics.js';
import type { MetricsListener } from '../telemetry/metrics-listener.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { Keeper } from '../workers/keeper.js';
import type { Failure } from '../workers/messages.js';
import type { Output } from './command.js';
import type { Ending } from './ending.js';
import { greetingOf } from './greeting.js';
import { baseAddress, openMetrics, sayReady } from './listening.js';
import { openServing } from './open-serving.js';

/**
 * The first of several processes: holds the database and the metrics, counts for the rate limits, and keeps the workers
 * that serve. What it returns ends them all, and says whether nobody had to be killed.
 */
export async function startKeeper(
  config: Config,
  log: ProcessLog,
  output: Output,
  ending: Ending,
): Promise<() => Promise<boolean>> {
  const clock = systemClock;
  const core = await openServing(config, log, ending);
  let fail: (failure: Failure) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = ({ exitCode, message }) => reject(new ExitError(exitCode, message));
  });
  let isUp = false;
  const keeper = new Keeper({
    count: config.workers,
    port: config.port,
    server: 'url' in core.target ? undefined : core.target,
    // With Redis it counts only while Redis is gone: the limits then hold for the node, not for each worker.
    counter: config.rateLimits === 'on' ? createOwnCounter(clock) : undefined,
    clock,
    log,
    onLost: (failure) => {
      if (!isUp) return fail(failure);
      log.main.fatal({ reason: failure.message }, 'the workers cannot be brought back');
      ending.endWith(failure.exitCode);
    },
  });
  let scrapes: MetricsListener | undefined;
  const stop = async (): Promise<boolean> => {
    await scrapes?.close();
    const isClean = await keeper.stop();
    await core.close();
    return isClean;
  };
  try {
    const port = await Promise.race([keeper.listening, failed, ending.code.then(() => undefined)]);
    if (port === undefined) return stop;
    isUp = true;
    const address = baseAddress(config.host, port);
    const own = createMetrics();
    addProcessGauges(own);
    const help = 'Workers that serve.';
    own.addGauge({ name: 'strongroom_workers', help, type: 'gauge', read: () => keeper.serving() });
    scrapes = await openMetrics(config, { render: () => keeper.scrape(own.render) });
    // Only now that nothing else can fail: a key is shown once, and must not be lost to a port that was taken.
    const greeting = greetingOf(await beginInstallation({ core, clock, log, config, port }), address);
    if (greeting !== undefined) output.print(greeting);
    keeper.open();
    sayReady(log, { address, rootKeyId: core.keyStore.rootKeyId, workers: config.workers });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
