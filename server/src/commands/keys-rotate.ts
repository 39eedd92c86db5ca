import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../kernel/clock.js';
import { formatDate } from '../kernel/dates.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import { TABLES } from '../resources.js';
import { rotateTenants } from '../rotation/rotate-tenants.js';
import { chosenTenants } from './chosen-tenants.js';
import type { Command, Flags } from './command.js';
import { printable } from './printable.js';
import { createProgress } from './progress.js';
import { resumable } from './resumable.js';
import { withCore } from './with-core.js';

const PHASES = {
  sealing: 'Sealing rows under the new keys',
  waiting: 'Waiting until no request can hold an old key',
  checking: 'Checking that no row needs an old key',
};

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'Give Tenants a new encryption key and seal their rows under it, while the API runs; run again to go on',
  flags: {
    tenant: { type: 'string', placeholder: 'id', about: 'The Tenant whose key to rotate' },
    all: { type: 'boolean', about: 'Rotate the keys of every Tenant' },
    before: { type: 'string', placeholder: 'date', about: 'Leave out Tenants whose key is not older than this' },
  },
  run: (flags, output) =>
    withCore('keys rotate', async (core) => {
      const nowMs = systemClock.nowMs();
      const tenant = tenantOf(flags);
      // `--all` leaves out keys made after the command began; with `--before` also those an interrupted run made.
      const madeBeforeMs = dateOf(flags) ?? (tenant === undefined ? nowMs : undefined);
      const tenantIds = await chosenTenants(core, tenant, wait);
      if (tenant === undefined && madeBeforeMs !== undefined) {
        const again = `strongroom keys rotate --all --before ${formatDate(madeBeforeMs)}`;
        output.say(`Should this be interrupted, go on with: ${again}`);
      }
      const progress = createProgress(output, systemClock);
      const { finished, resumed, rows, faults } = await resumable(() =>
        rotateTenants(
          {
            ...core,
            clock: systemClock,
            tables: TABLES,
            wait,
            madeBeforeMs,
            onProgress: ({ phase, rows: done, rowsTotal }) =>
              progress.show(PHASES[phase], phase === 'waiting' ? 0 : done, phase === 'waiting' ? 0 : rowsTotal),
          },
          tenantIds,
        ),
      );
      const share = resumed > 0 ? `, ${resumed} of them begun by an earlier run` : '';
      output.say(`Keys rotated: ${finished}${share}. Rows sealed anew: ${rows}.`);
      if (faults.length === 0) return EXIT.ok;
      for (const { tenantId, table, id } of faults) output.print(`fault  ${tenantId}  ${table}  ${printable(id)}`);
      const kept = 'The old keys of their Tenants are kept. Mend the rows from a backup, then run the command again.';
      output.say(`Rows that do not open: ${faults.length}. ${kept}`);
      return EXIT.failure;
    }),
};

function tenantOf(flags: Flags): string | undefined {
  const tenant = flags.text('tenant');
  if ((tenant === undefined) === flags.isSet('all')) return tenant;
  throw validationFailed({ tenant: ['give either --tenant or --all'] });
}

function dateOf(flags: Flags): number | undefined {
  const text = flags.text('before');
  if (text === undefined) return undefined;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) throw validationFailed({ before: ['is not a date such as 2026-01-31T12:00:00Z'] });
  return atMs;
}
