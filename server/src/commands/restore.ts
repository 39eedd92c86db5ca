import { resolve } from 'node:path';
import { readConfig } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { checkBackup, RestoreStopped, restore } from '../storage/backup/restore.js';
import type { Command } from './command.js';
import { expectInterruption } from './interruption.js';
import { createProgress } from './progress.js';
import { withOwner } from './with-owner.js';

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Fill an empty database from a backup, all of it or nothing',
  flags: {
    from: { type: 'string', placeholder: 'folder', about: 'What strongroom backup wrote', isRequired: true },
  },
  run: async (flags, output) => {
    const folder = resolve(flags.text('from') ?? '');
    const config = readConfig();
    const progress = createProgress(output, systemClock);
    // Before anything is opened: on an empty data folder that alone would make a database.
    const manifest = await checkBackup(folder, (bytes, total) => progress.show('Checking bytes', bytes, total));
    const { tables, createdAt, rootKeyId, isRootKeyChanging, productVersion } = manifest;
    output.say(`A backup of ${createdAt}, by release ${productVersion}: whole and unaltered.`);
    const interruption = expectInterruption(() => output.say('Stopping …'));
    try {
      const applied = await withOwner({ config, command: 'restore', mayJoin: false }, (migration) =>
        restore({
          migration,
          folder,
          manifest,
          onProgress: (rows, total) => progress.show('Loading rows', rows, total),
          shouldStop: interruption.isAsked,
        }),
      );
      if (applied.length > 0) output.say(`Applied since then: ${applied.join(', ')}.`);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      output.print(`Restored ${rows} rows of ${tables.length} tables. The number of rows of each is as it was.`);
      if (rootKeyId !== undefined) {
        const keys = isRootKeyChanging
          ? `both root keys, ${rootKeyId} and the one it was being changed from or to,`
          : `root key ${rootKeyId}`;
        output.say(`Now set ${keys} and run strongroom keys verify, before anybody uses it.`);
      }
      return EXIT.ok;
    } catch (error) {
      if (!(error instanceof RestoreStopped)) throw error;
      output.say('Stopped. The database is as empty as before.');
      return interruption.exitCode();
    } finally {
      interruption.close();
    }
  },
};
