import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { operatorContext } from '../audit/entry.js';
import { record } from '../audit/record.js';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import { exportLogs, LOG_EVENTS } from '../resources/logs/index.js';
import type { Command, Output } from './command.js';
import { expectInterruption } from './interruption.js';
import { knownFate } from './tenant-fate.js';
import { withCore } from './with-core.js';

const OWNER_ONLY = 0o600;

export const logsExport: Command = {
  name: 'logs export',
  summary: 'Write every log entry of a Tenant, also of a deleted one, one JSON object a line, oldest first',
  flags: {
    tenant: { type: 'string', placeholder: 'tenant id', about: 'Tenant whose log it is', isRequired: true },
    to: { type: 'string', placeholder: 'file', about: 'A new file; standard output without it' },
  },
  run: (flags, output) =>
    withCore('logs export', async ({ database }) => {
      const { tenantId, deleted_at } = await knownFate(database, flags.text('tenant'));
      const sink = await openSink(flags.text('to'), output);
      const interruption = expectInterruption(() => output.say('Stopping …'));
      let isWhole = false;
      try {
        const untilMs = systemClock.nowMs();
        // Before anything leaves. The log of a deleted tenant says nothing new.
        if (deleted_at === null) {
          const entry = { event: LOG_EVENTS.logs_exported, entityId: tenantId, outcome: 'success' } as const;
          await database.write(tenantId, (tx) => record(tx, operatorContext(untilMs), entry));
        }
        const shouldStop = interruption.isAsked;
        const count = await exportLogs({ database, tenantId, untilMs, write: sink.write, shouldStop });
        if (interruption.isAsked()) {
          output.say(`Stopped after ${count} entries.`);
          return interruption.exitCode();
        }
        isWhole = true;
        output.say(`Exported ${count} entries.`);
        return EXIT.ok;
      } finally {
        interruption.close();
        await sink.close(isWhole);
      }
    }),
};

interface Sink {
  write(lines: string): Promise<void>;
  /** An incomplete file must not be left behind: it would look like a complete one. */
  close(isWhole: boolean): Promise<void>;
}

async function openSink(to: string | undefined, output: Output): Promise<Sink> {
  if (to === undefined) {
    return { write: async (lines) => output.print(lines.slice(0, -1)), close: async () => {} };
  }
  const path = resolve(to);
  const handle = await open(path, 'wx', OWNER_ONLY).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault';
    throw validationFailed({ to: [`must be a new file that can be made (${code})`] });
  });
  return {
    write: (lines) => handle.appendFile(lines),
    async close(isWhole) {
      if (isWhole) await handle.sync();
      await handle.close();
      if (!isWhole) await rm(path, { force: true });
    },
  };
}
