import { readConfig } from '../config.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { distribute, openWorkingRoles, refuseToDistribute, sessionsLeft } from '../storage/distribution/distribute.js';
import { AFTER_DISTRIBUTION } from '../storage/distribution/working-roles.js';
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
      about: 'Spread the tables over the servers of a Citus cluster, by tenant',
    },
  },
  run: async (flags, output) => {
    const wanted = flags.text('distribute');
    checkDistribution(wanted);
    const config = readConfig();
    if (wanted !== undefined && config.databaseUrl === undefined) throw onlyOneServer();
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
      const { owner } = storage.migration;
      if (wanted !== undefined) await refuseToDistribute(owner);
      const applied = await migrate(storage.migration);
      output.say(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`);
      if (wanted !== undefined) {
        const done = await distribute(owner);
        await openWorkingRoles(owner);
        output.say(done.length === 0 ? 'The tables are distributed.' : `Distributed: ${done.join(', ')}.`);
        if (done.length > 0 && (await sessionsLeft(owner)) > 0) output.say(STARTED_MEANWHILE);
        for (const line of AFTER_DISTRIBUTION) output.say(line);
      }
      // The owner of the embedded server is the account it runs as, and everybody who reaches its socket may act as it.
      const advice = config.databaseUrl === undefined ? [] : await examineOwner(owner);
      for (const sentence of advice) output.say(`Warning: ${sentence}`);
      return EXIT.ok;
    } finally {
      await storage.close();
    }
  },
};

const STARTED_MEANWHILE =
  'Warning: A process of strongroom has begun to work on the database meanwhile. Start every process again.';

function onlyOneServer(): ExitError {
  return new ExitError(
    EXIT.configuration,
    'The embedded server is one server. Set STRONGROOM_DATABASE_URL and STRONGROOM_MIGRATION_DATABASE_URL to the coordinator ' +
      'of a Citus cluster; docs/scaling.md says how to make one. Nothing was changed.',
  );
}

function checkDistribution(word: string | undefined): void {
  if (word !== undefined && word !== 'citus') throw validationFailed({ distribute: ['must be citus'] });
}
