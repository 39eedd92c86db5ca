import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { STAGES } from '../rotation/stages.js';
import { verifyKeys } from '../rotation/verify.js';
import { chosenTenants } from './chosen-tenants.js';
import type { Command } from './command.js';
import { printable } from './printable.js';
import { createProgress } from './progress.js';
import { withCore } from './with-core.js';

export const keysVerify: Command = {
  name: 'keys verify',
  summary: 'Open every key and every sealed row, say which do not open, change nothing',
  flags: { tenant: { type: 'string', placeholder: 'id', about: 'Look at this Tenant alone' } },
  run: (flags, output) =>
    withCore('keys verify', async (core) => {
      const progress = createProgress(output, systemClock);
      const tenantIds = await chosenTenants(core, flags.text('tenant'), wait);
      const { tenants, rows, faults } = await verifyKeys(
        {
          ...core,
          stages: STAGES,
          wait,
          onFault: ({ tenantId = '-', table, id }) => output.print(`fault  ${tenantId}  ${table}  ${printable(id)}`),
          onProgress: (done) => progress.show('Opening rows', done, 0),
        },
        tenantIds,
      );
      output.say(`Tenants: ${tenants}. Rows opened: ${rows - faults}. Rows that do not open: ${faults}.`);
      return faults === 0 ? EXIT.ok : EXIT.failure;
    }),
};
