import { readConfig } from '../config.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
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
      about: 'Closed in this release, which does not run on a database that Citus has spread',
    },
  },
  run: async (flags, output) => {
    refuseDistributing(flags.text('distribute'));
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
      const applied = await migrate(storage.migration);
      output.say(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`);
      // The owner of the embedded server is the account it runs as, and everybody who reaches its socket may act as it.
      const advice = config.databaseUrl === undefined ? [] : await examineOwner(storage.migration.owner);
      for (const sentence of advice) output.say(`Warning: ${sentence}`);
      return EXIT.ok;
    } finally {
      await storage.close();
    }
  },
};

/** `storage/distribute.ts` can do it. It stays switched off until the service runs on a distributed database. */
function refuseDistributing(word: string | undefined): void {
  if (word === undefined) return;
  if (word !== 'citus') throw validationFailed({ distribute: ['must be citus'] });
  throw new ExitError(
    EXIT.configuration,
    'This release does not run on a database that Citus has spread, so it does not spread one either. Run strongroom migrate ' +
      'without --distribute; docs/scaling.md says how to cut along tenants until then. Nothing was changed.',
  );
}
