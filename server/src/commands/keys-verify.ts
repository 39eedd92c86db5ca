import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../config.js';
import { sealCheck } from '../crypto/backup-seal.js';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import { TABLES, TABLES_OF_PEOPLE } from '../resources.js';
import { verifyKeys } from '../rotation/verify.js';
import { rowsIn } from '../storage/backup/manifest.js';
import { checkBackup } from '../storage/backup/restore.js';
import { chosenTenants } from './chosen-tenants.js';
import type { Command, Output } from './command.js';
import { givenRootKeys } from './given-root-keys.js';
import { printable } from './printable.js';
import { createProgress } from './progress.js';
import { withCore } from './with-core.js';

export const keysVerify: Command = {
  name: 'keys verify',
  summary:
    'Open every key and sealed row, check every row that grants rights, name those that do not fit; changes none',
  flags: {
    tenant: {
      type: 'string',
      placeholder: 'id',
      about: 'Look at this Tenant alone, and at the keys of the installation',
    },
    backup: {
      type: 'string',
      placeholder: 'folder',
      about: 'Look at this backup instead of the database: its seal and the sum of every file',
    },
  },
  run: async (flags, output) => {
    const folder = flags.text('backup');
    if (folder !== undefined) {
      if (flags.text('tenant') !== undefined) throw validationFailed({ backup: ['cannot be given with --tenant'] });
      return verifyBackup(resolve(folder), output);
    }
    return withCore('keys verify', async (core) => {
      const progress = createProgress(output, systemClock);
      const chosen = flags.text('tenant');
      const tenantIds = await chosenTenants(core, chosen, wait);
      const { tenants, rows, faults } = await verifyKeys(
        {
          ...core,
          tables: TABLES,
          // Nobody of them belongs to one Tenant.
          peopleTables: chosen === undefined ? TABLES_OF_PEOPLE : [],
          wait,
          onFault: ({ tenantId = '-', table, id }) => output.print(`fault  ${tenantId}  ${table}  ${printable(id)}`),
          onProgress: (done) => progress.show('Opening rows', done, 0),
        },
        tenantIds,
      );
      output.say(`Tenants: ${tenants}. Rows opened: ${rows - faults}. Rows that do not open: ${faults}.`);
      return faults === 0 ? EXIT.ok : EXIT.failure;
    });
  },
};

async function verifyBackup(folder: string, output: Output): Promise<number> {
  const ring = await givenRootKeys(readConfig(), 'The seal of a backup is checked by the root key');
  const progress = createProgress(output, systemClock);
  const manifest = await checkBackup(folder, sealCheck(ring, { isUnsealedAccepted: false }), (bytes, total) =>
    progress.show('Checking bytes', bytes, total),
  );
  output.say(`The seal and every sum fit: ${rowsIn(manifest)} rows of ${manifest.tables.length} tables.`);
  return EXIT.ok;
}
