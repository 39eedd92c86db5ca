import { generateRootKey } from '../crypto/root-key.js';
import type { Command } from './command.js';

export const rootKeyGenerate: Command = {
  name: 'root-key generate',
  summary: 'Print a new root key; keep it in a file of mode 0600 and back it up',
  flags: {},
  run: async (_flags, output) => {
    output.print(generateRootKey().reveal());
    return 0;
  },
};
