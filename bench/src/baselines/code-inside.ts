import { Script } from 'node:vm';
import { createApp } from '../../../server/dist/app.js';
import { readConfig } from '../../../server/dist/config.js';
import { openCore } from '../../../server/dist/core.js';
import { systemClock } from '../../../server/dist/kernel/clock.js';
import type { LateSandbox } from '../../../server/dist/sandbox/late-sandbox.js';
import { createMetrics } from '../../../server/dist/telemetry/metrics.js';
import { createProcessLog } from '../../../server/dist/telemetry/process-log.js';

/**
 * The baseline: the product itself, joined to the database of another one, which runs code of Reactors right here, in its own
 * process and without any wall. Everything else about a call is the same.
 */
const config = { ...readConfig(), port: 0 };
const log = createProcessLog({ level: config.logLevel, destination: { write: () => {} } });
const core = await openCore({
  ...{ config, clock: systemClock, command: 'npm run bench', mayJoin: true },
  log: () => {},
  onLost: () => {},
});
const app = createApp({
  ...{ config, core, clock: systemClock, log, metrics: createMetrics() },
  createSandbox: codeInside,
});
const port = await app.http.listen('127.0.0.1', 0);
app.markReady();
process.stdout.write(`${port}\n`);

type Handler = (request: unknown) => unknown;

function codeInside(): LateSandbox {
  const handlers = new Map<string, Handler>();
  return {
    async run({ code }, input) {
      const { args, configuration, requestId, attempt } = await input();
      const handler = handlers.get(code) ?? handlerOf(code);
      handlers.set(code, handler);
      const value = await handler({ args, configuration, request_id: requestId, attempt });
      return { outcome: { outcome: 'returned', value, console: [] }, isCold: false };
    },
    state: () => ({ isAvailable: true, mode: 'none', landlock: 0 }),
    open: () => Promise.resolve({ isAvailable: true, mode: 'none', landlock: 0 }),
    figures: () => ({ instances: 0, busy: 0, blanks: 0, waiting: 0, coldStarts: 0 }),
    close: () => Promise.resolve(),
  };
}

function handlerOf(code: string): Handler {
  const module: { exports: unknown } = { exports: undefined };
  const wrapped: (module: unknown) => void = new Script(`(function (module) { ${code} })`).runInThisContext();
  wrapped(module);
  return module.exports as Handler; // Code of this benchmark, which exports one.
}
