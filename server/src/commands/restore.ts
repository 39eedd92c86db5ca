import { resolve } from 'node:path';
import { readConfig } from '../config.js';
import { sealCheck } from '../crypto/backup-seal.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { rowsIn } from '../storage/backup/manifest.js';
import { checkBackup, restore } from '../storage/backup/restore.js';
import type { Command } from './command.js';
import { givenRootKeys } from './given-root-keys.js';
import { createProgress } from './progress.js';
import { stoppable } from './stoppable.js';
import { withOwner } from './with-owner.js';

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Fill an empty database from a backup, all of it or nothing',
  flags: {
    from: { type: 'string', placeholder: 'folder', about: 'What strongroom backup wrote', isRequired: true },
    'accept-unsealed': {
      type: 'boolean',
      about: 'Also a backup without a seal, such as of an earlier release: nothing then shows whether it was changed',
    },
  },
  run: async (flags, output) => {
    const folder = resolve(flags.text('from') ?? '');
    const config = readConfig();
    const ring = await givenRootKeys(config, 'The seal of a backup is checked by the root key');
    const checkSeal = sealCheck(ring, { isUnsealedAccepted: flags.isSet('accept-unsealed') });
    const progress = createProgress(output, systemClock);
    // Before anything is opened: on an empty data folder that alone would make a database.
    const manifest = await checkBackup(folder, checkSeal, (bytes, total) =>
      progress.show('Checking bytes', bytes, total),
    );
    const { tables, createdAt, rootKeyId, isRootKeyChanging, productVersion } = manifest;
    output.say(`A backup of ${createdAt}, by release ${productVersion}: whole and unaltered.`);
    return stoppable(output, 'The database is as empty as before.', async (shouldStop) => {
      const onProgress = (rows: number, total: number) => progress.show('Loading rows', rows, total);
      const applied = await withOwner({ config, command: 'restore', mayCreate: true }, (migration) =>
        restore({ migration, folder, manifest, onProgress, shouldStop }),
      );
      if (applied.length > 0) output.say(`Applied since then: ${applied.join(', ')}.`);
      const count = `${rowsIn(manifest)} rows of ${tables.length} tables`;
      output.print(`Restored ${count}. The number of rows of each is as it was.`);
      if (rootKeyId !== undefined) {
        const keys = isRootKeyChanging
          ? `both root keys, ${rootKeyId} and the one it was being changed from or to,`
          : `root key ${rootKeyId}`;
        output.say(`Now set ${keys} and run strongroom keys verify, before anybody uses it.`);
      }
      return EXIT.ok;
    });
  },
};
