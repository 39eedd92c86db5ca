import { readConfig } from '../config.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { migrate } from '../storage/migrate.js';
import { openStorage } from '../storage/open-storage.js';
import type { Command } from './command.js';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database schema up to this release',
  flags: {},
  run: async (_flags, output) => {
    const storage = await openStorage({
      ...readConfig(),
      command: 'strongroom migrate',
      log: () => {},
      onLost: () => {},
      mayJoin: true,
    });
    try {
      if (!storage.migration) {
        throw new ExitError(
          EXIT.configuration,
          "Migrations run as the owner of the schema. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address.",
        );
      }
      const applied = await migrate(storage.migration);
      output.say(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`);
      return EXIT.ok;
    } finally {
      await storage.close();
    }
  },
};
