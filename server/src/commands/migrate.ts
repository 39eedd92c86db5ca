import { readConfig } from '../config.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { distribute, refuseWithoutCitus } from '../storage/distribute.js';
import { migrate } from '../storage/migrate.js';
import { openStorage } from '../storage/open-storage.js';
import { examineOwner } from '../storage/owner-rights.js';
import type { Command } from './command.js';
import { sayWaiting } from './with-core.js';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database schema up to this release',
  flags: {
    distribute: {
      type: 'string',
      placeholder: 'citus',
      about: 'Then spread the tables over the servers of a Citus cluster, by tenant',
    },
  },
  run: async (flags, output) => {
    const isDistributing = wantsCitus(flags.text('distribute'));
    const config = readConfig();
    const storage = await openStorage({
      ...config,
      command: 'strongroom migrate',
      log: () => {},
      onLost: () => {},
      mayCreate: true,
      mayJoin: true,
      onWait: sayWaiting,
    });
    try {
      if (!storage.migration) {
        throw new ExitError(
          EXIT.configuration,
          "Migrations run as the owner of the schema. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address.",
        );
      }
      if (isDistributing) await refuseWithoutCitus(storage.migration.owner);
      const applied = await migrate(storage.migration);
      output.say(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`);
      // The embedded server's owner is the account it runs as, whoever reaches its socket.
      const advice = config.databaseUrl === undefined ? [] : await examineOwner(storage.migration.owner);
      for (const sentence of advice) output.say(`Warning: ${sentence}`);
      if (isDistributing) {
        const tables = await distribute(storage.migration.owner);
        output.say(tables.length === 0 ? 'All tables are distributed already.' : `Distributed: ${tables.join(', ')}.`);
      }
      return EXIT.ok;
    } finally {
      await storage.close();
    }
  },
};

function wantsCitus(word: string | undefined): boolean {
  if (word !== undefined && word !== 'citus') throw validationFailed({ distribute: ['must be citus'] });
  return word === 'citus';
}
