import cluster from 'node:cluster';
import { createApp } from '../app.js';
import type { Config } from '../config.js';
import { readConfig, settingsAdvice, unknownSettings } from '../config.js';
import { beginInstallation } from '../first-start.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { createMetrics } from '../telemetry/metrics.js';
import type { MetricsListener } from '../telemetry/metrics-listener.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { createProcessLog } from '../telemetry/process-log.js';
import type { Command, Output } from './command.js';
import type { Ending } from './ending.js';
import { expectEnd } from './ending.js';
import { greetingOf } from './greeting.js';
import { baseAddress, listen, openMetrics, sayReady } from './listening.js';
import { openServing } from './open-serving.js';
import { startKeeper } from './serve-keeper.js';
import { serveAsWorker } from './serve-worker.js';

export const serve: Command = {
  name: 'serve',
  summary: 'Run the API',
  flags: {},
  run: async (_flags, output) => {
    if (cluster.isWorker) return serveAsWorker();
    const config = readConfig();
    const log = createProcessLog({ level: config.logLevel });
    const ending = expectEnd(log);
    try {
      for (const name of unknownSettings())
        log.main.warn({ setting: name }, 'this setting is not known and is ignored');
      if (config.env === 'production') for (const advice of settingsAdvice(config)) log.main.warn(advice);
      const begin = config.workers > 1 ? startKeeper : start;
      const stop = await begin(config, log, output, ending);
      const code = await ending.code;
      const isClean = await stop();
      log.main.info('stopped');
      return isClean ? code : code || EXIT.failure;
    } finally {
      await log.flush();
    }
  },
};

/** From nothing to ready; what it returns undoes it all in the opposite order. */
async function start(config: Config, log: ProcessLog, output: Output, ending: Ending): Promise<() => Promise<true>> {
  const clock = systemClock;
  const core = await openServing(config, log, ending);
  const metrics = createMetrics();
  const app = createApp({ config, core, clock, log, metrics });
  let scrapes: MetricsListener | undefined;
  const stop = async (): Promise<true> => {
    await scrapes?.close();
    await app.close();
    await core.close();
    return true;
  };
  try {
    const port = await listen(() => app.http.listen(config.host, config.port), config, 'port');
    const address = baseAddress(config.host, port);
    scrapes = await openMetrics(config, metrics);
    // Only now that nothing else can fail: a key is shown once, and must not be lost to a port that was taken.
    const greeting = greetingOf(await beginInstallation({ core, clock, log, config, port }), address);
    if (greeting !== undefined) output.print(greeting);
    app.markReady();
    sayReady(log, { address, rootKeyId: core.keyStore.rootKeyId });
    void app.openSandbox();
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
