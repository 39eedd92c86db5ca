import { listenHost } from '../kernel/listen-host.js';
import type { Settings } from '../kernel/setting.js';
import { oneOf, PORT } from '../kernel/setting.js';

export const TELEMETRY_SETTINGS = {
  metricsHost: {
    name: 'STRONGROOM_METRICS_HOST',
    kind: { values: 'address or name', parse: listenHost },
    default: '127.0.0.1',
    about: 'Address the metrics listener binds to',
  },
  metricsPort: {
    name: 'STRONGROOM_METRICS_PORT',
    kind: PORT,
    default: undefined,
    about: 'Port of the Prometheus metrics; no listener without it',
  },
  metricsTls: {
    name: 'STRONGROOM_METRICS_TLS',
    kind: oneOf(['required', 'optional']),
    default: 'required',
    about: '`optional` lets production show metrics beyond loopback, in plain HTTP',
  },
  logLevel: {
    name: 'STRONGROOM_LOG_LEVEL',
    kind: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    about: 'Lowest level of the lines that are written',
  },
} satisfies Settings;
