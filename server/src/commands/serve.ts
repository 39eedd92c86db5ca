import { createApp } from '../app.js';
import type { Config } from '../config.js';
import { readConfig, SETTINGS, unknownSettings } from '../config.js';
import { openCore } from '../core.js';
import { makeFirstTenant } from '../first-start.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { replicaObserver } from '../observers.js';
import { createMetrics } from '../telemetry/metrics.js';
import { listenForScrapes } from '../telemetry/metrics-listener.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { createProcessLog } from '../telemetry/process-log.js';
import { VERSION } from '../version.js';
import type { Command, Output } from './command.js';
import { expectEnd } from './ending.js';
import { greeting } from './greeting.js';

/** Ending a connection at shutdown is reported as FATAL and is none. */
const POSTGRES_TROUBLE = / (WARNING|ERROR|FATAL|PANIC): (?! *terminating connection due to administrator command)/;

export const serve: Command = {
  name: 'serve',
  summary: 'Run the API',
  flags: {},
  run: async (_flags, output) => {
    const config = readConfig();
    const log = createProcessLog({ level: config.logLevel });
    const ending = expectEnd(log);
    try {
      const stop = await start(config, log, output, ending.endWith);
      const code = await ending.code;
      await stop();
      log.main.info('stopped');
      return code;
    } finally {
      await log.flush();
    }
  },
};

/** From nothing to ready; what it returns undoes it all in the opposite order. */
async function start(
  config: Config,
  log: ProcessLog,
  output: Output,
  endWith: (code: number) => void,
): Promise<() => Promise<void>> {
  const clock = systemClock;
  for (const name of unknownSettings()) log.main.warn({ setting: name }, 'this setting is not known and is ignored');
  const core = await openCore({
    config,
    clock,
    command: 'strongroom serve',
    log: (line) => log.main[POSTGRES_TROUBLE.test(line) ? 'warn' : 'debug']({ source: 'postgres' }, line),
    onLost: (reason) => {
      log.main.fatal({ reason }, 'the embedded database cannot be brought back');
      endWith(EXIT.unavailable);
    },
    onReplica: replicaObserver(log),
  });
  for (const warning of core.warnings) log.main.warn(warning);
  const metrics = createMetrics();
  const app = createApp({ config, core, clock, log, metrics });
  const stop = async (): Promise<void> => {
    await app.close();
    await core.close();
  };
  try {
    const port = await listen(() => app.http.listen(config.host, config.port), config, 'port');
    const address = baseAddress(config.host, port);
    const scrapes =
      config.metricsPort === undefined ? undefined : await openMetrics(config, config.metricsPort, metrics);
    // Only now that nothing else can fail: a key is shown once, and must not be lost to a port that was taken.
    const first = await makeFirstTenant(core, clock, config.bootstrapApiKey);
    if (first) output.print(greeting(first, address));
    app.markReady();
    log.main.info({ address, version: VERSION, rootKeyId: core.keyStore.rootKeyId }, 'ready');
    return async () => {
      await scrapes?.close();
      await stop();
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function openMetrics(config: Config, port: number, metrics: ReturnType<typeof createMetrics>) {
  return listen(() => listenForScrapes(metrics, config.metricsHost, port), config, 'metricsPort');
}

async function listen<T>(open: () => Promise<T>, config: Config, setting: 'port' | 'metricsPort'): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as { code?: unknown }; // Read as unknown and only printed.
    const host = setting === 'port' ? config.host : config.metricsHost;
    throw new ExitError(
      EXIT.unavailable,
      `Cannot listen on ${host} port ${config[setting]} (${String(code)}). Is another process there? ` +
        `${SETTINGS[setting].name} picks another port.`,
      error,
    );
  }
}

function baseAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
