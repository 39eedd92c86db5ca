import { resolve } from 'node:path';
import { readConfig } from '../config.js';
import { manifestSealer } from '../crypto/backup-seal.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { backUp } from '../storage/backup/back-up.js';
import type { BackupManifest } from '../storage/backup/manifest.js';
import { rowsIn } from '../storage/backup/manifest.js';
import { refuseMissingCluster } from '../storage/embedded/data-folder.js';
import { VERSION } from '../version.js';
import type { Command, Output } from './command.js';
import { givenRootKeys } from './given-root-keys.js';
import { createProgress } from './progress.js';
import { stoppable } from './stoppable.js';
import { withOwner } from './with-owner.js';

export const backup: Command = {
  name: 'backup',
  summary: 'Copy the whole database, as it is at one moment, into a folder; never the root key',
  flags: {
    to: { type: 'string', placeholder: 'folder', about: 'Where to; must be empty or not there yet', isRequired: true },
  },
  run: async (flags, output) => {
    const folder = resolve(flags.text('to') ?? '');
    const config = readConfig();
    // Before the root key, which is missing in a folder that was mistyped too.
    if (config.databaseUrl === undefined) await refuseMissingCluster(config.dataDir);
    const sealManifest = manifestSealer(await givenRootKeys(config, 'A backup is sealed by the root key'));
    return withOwner({ config, command: 'backup', mayJoin: true }, async ({ owner }) => {
      const progress = createProgress(output, systemClock);
      return stoppable(output, 'What was written so far was removed.', async (shouldStop) => {
        const manifest = await backUp({
          owner,
          folder,
          productVersion: VERSION,
          nowMs: systemClock.nowMs(),
          sealManifest,
          onProgress: (rows, expected) => progress.show('Copying rows', rows, expected),
          shouldStop,
        });
        tellKeys(output, manifest);
        output.print(`Backed up ${rowsIn(manifest)} rows of ${manifest.tables.length} tables: ${folder}`);
        return EXIT.ok;
      });
    });
  },
};

function tellKeys(output: Output, { rootKeyId, isRootKeyChanging }: BackupManifest): void {
  output.say(
    rootKeyId === undefined
      ? 'The database was never started on, so no root key belongs to it.'
      : `The root key is not in the backup. Keep root key ${rootKeyId} safe, and elsewhere: without it nothing in here can be read.`,
  );
  if (!isRootKeyChanging) return;
  output.say(
    'The root key is being changed just now, so some keys in here may need the other one. Keep both root keys for this backup, the old and the new.',
  );
}
