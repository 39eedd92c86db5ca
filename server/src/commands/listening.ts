import type { Config } from '../config.js';
import { SETTINGS } from '../config.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { MetricsListener, Scraped } from '../telemetry/metrics-listener.js';
import { listenForScrapes } from '../telemetry/metrics-listener.js';

/** Opens the listener of the metrics, if there is to be one. */
export async function openMetrics(config: Config, metrics: Scraped): Promise<MetricsListener | undefined> {
  const { metricsPort } = config;
  if (metricsPort === undefined) return undefined;
  return listen(() => listenForScrapes(metrics, config.metricsHost, metricsPort), config, 'metricsPort');
}

export async function listen<T>(open: () => Promise<T>, config: Config, setting: 'port' | 'metricsPort'): Promise<T> {
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

export function baseAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
