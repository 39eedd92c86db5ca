import type { Config } from '../config.js';
import { SETTINGS } from '../config.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { MetricsListener, Scraped } from '../telemetry/metrics-listener.js';
import { listenForScrapes } from '../telemetry/metrics-listener.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { VERSION } from '../version.js';

export interface ReadyFacts {
  readonly address: string;
  readonly rootKeyId: string;
  readonly workers?: number;
}

const PRIVILEGED_PORTS = 1_024;

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
    const { code } = error as { code?: unknown }; // Read as unknown, compared and printed.
    const hostSetting = setting === 'port' ? 'host' : 'metricsHost';
    const names = { host: SETTINGS[hostSetting].name, port: SETTINGS[setting].name };
    const port = config[setting] ?? 0;
    throw new ExitError(
      EXIT.unavailable,
      `Cannot listen on ${config[hostSetting]} port ${port} (${String(code)}). ${advice(code, port, names)}`,
      error,
    );
  }
}

/**
 * What to do, by the cause: a wrong hint about a taken port would send the operator after a process that does not
 * exist.
 */
function advice(code: unknown, port: number, names: { readonly host: string; readonly port: string }): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Another process listens there. End it, or choose another port with ${names.port}.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return (
        `That name has no address on this machine. Set ${names.host} to an address such as 127.0.0.1, or to a name that ` +
        'resolves, without http:// and without a port.'
      );
    case 'EADDRNOTAVAIL':
      return (
        `No network interface of this machine has that address. Set ${names.host} to one that it has, to 127.0.0.1 for ` +
        'this machine alone, or to 0.0.0.0 for all of them.'
      );
    case 'EACCES':
    case 'EPERM':
      return port < PRIVILEGED_PORTS
        ? `Ports below ${PRIVILEGED_PORTS} are for root and whoever has CAP_NET_BIND_SERVICE. Choose another with ` +
            `${names.port}, and let the proxy in front have that one.`
        : `The system does not let this user listen there. Choose another port with ${names.port}.`;
    default:
      return `Check ${names.host} and ${names.port}.`;
  }
}

export function baseAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The line that operators and their scripts wait for is written at once, and not with the next block. */
export function sayReady(log: ProcessLog, about: ReadyFacts): void {
  log.main.info({ ...about, version: VERSION }, 'ready');
  void log.flush();
}
