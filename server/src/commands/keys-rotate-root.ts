import { setTimeout as wait } from 'node:timers/promises';
import type { RootKey } from '../crypto/root-key.js';
import { readRootKeyFile } from '../crypto/root-key-file.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { RootRotationSummary } from '../rotation/rotate-root.js';
import { rotateRoot } from '../rotation/rotate-root.js';
import type { Command, Output } from './command.js';
import { createProgress } from './progress.js';
import { resumable } from './resumable.js';
import { withCore } from './with-core.js';

const PHASES = {
  wrapping: 'Wrapping the keys of Tenants by the new root key',
  waiting: 'Waiting until no request can hold the old root key alone',
  checking: 'Checking that no key needs the old root key',
};

export const keysRotateRoot: Command = {
  name: 'keys rotate-root',
  summary: 'Change to a new root key and wrap every key by it, while the API runs; run again to go on',
  flags: {
    'new-key-file': {
      type: 'string',
      placeholder: 'path',
      about: 'File with the root key to change to; a new one is made without it',
    },
  },
  run: (flags, output) =>
    withCore('keys rotate-root', async (core) => {
      const newKey = await readNewKey(flags.text('new-key-file'));
      const progress = createProgress(output, systemClock);
      const { file } = core.keyStore.custody;
      const summary = await resumable(() =>
        rotateRoot({
          ...core,
          clock: systemClock,
          wait,
          newKey,
          onProgress: ({ phase, tenants }) => progress.show(PHASES[phase], tenants, 0),
        }),
      );
      return tell(output, summary, file);
    }),
};

/** A key that others could read before it was ever used is a bad beginning, in development too. */
async function readNewKey(path: string | undefined): Promise<RootKey | undefined> {
  if (path === undefined) return undefined;
  const found = await readRootKeyFile(path);
  if (found === undefined) throw fault(`${path} does not exist. Put the new root key there, or leave the option out.`);
  const [newKey, ...others] = found.ring;
  if (others.length > 0) throw fault(`${path} holds several root keys. Put the new one there alone.`);
  if (found.isOpenToOthers) throw fault(`${path} is open to other users. Make a new key and "chmod 600" its file.`);
  return newKey;
}

function tell(output: Output, summary: RootRotationSummary, file: string | undefined): number {
  const { rootKeyId, previousIds, damagedTenants } = summary;
  output.say(`Keys wrapped anew by root key ${rootKeyId}: ${summary.keys}.`);
  const keep = `Keep root key ${previousIds.join(' and ')} as long as backups from before are kept.`;
  if (damagedTenants.length > 0) {
    for (const tenantId of damagedTenants) output.print(`fault  ${tenantId}  tenant_keys`);
    output.say(
      `Tenants with keys that no root key opens: ${damagedTenants.length}. The old root key stays in use beside the ` +
        'new one. Mend them from a backup, then run the command again; "strongroom keys verify" says more.',
    );
    return EXIT.failure;
  }
  if (summary.isFileDone) {
    output.say(`${file} holds root key ${rootKeyId} alone now: back it up, apart from the data. ${keep}`);
  } else {
    output.say(`Now restart every server with STRONGROOM_ROOT_KEY set to root key ${rootKeyId} alone. ${keep}`);
  }
  return EXIT.ok;
}

function fault(message: string): ExitError {
  return new ExitError(EXIT.configuration, message);
}
