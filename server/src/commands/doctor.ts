import { readConfig, unknownSettings } from '../config.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { Command, Output } from './command.js';
import { withCore } from './with-core.js';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check settings, database and root key, and say what is wrong',
  flags: {},
  run: async (_flags, output) => {
    const settings = await check(output, 'settings', async () => {
      readConfig();
      const unknown = unknownSettings();
      return unknown.length === 0 ? 'usable' : `usable; not known and ignored: ${unknown.join(', ')}`;
    });
    if (settings !== EXIT.ok) return settings;
    return check(output, 'database and root key', () =>
      withCore('doctor', async ({ keyStore, warnings }) => {
        for (const warning of warnings) output.print(`warning  ${warning}`);
        return `the schema fits, the database is sealed by ${keyStore.rootKeyId}`;
      }),
    );
  },
};

async function check(output: Output, what: string, look: () => Promise<string>): Promise<number> {
  try {
    output.print(`ok       ${what}: ${await look()}`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    output.print(`FAULT    ${what}: ${error.message}`);
    return error.exitCode;
  }
}
