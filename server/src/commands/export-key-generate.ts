import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { generateExchangeKey } from '../crypto/exchange-key.js';
import { validationFailed } from '../kernel/errors.js';
import type { Command } from './command.js';

const OWNER_ONLY_FILE = 0o600;

export const exportKeyGenerate: Command = {
  name: 'export-key generate',
  summary: 'Make a key pair for exports: writes the private key to a file, prints the public key',
  flags: {
    out: { type: 'string', placeholder: 'file', about: 'Where the private key goes; must not exist', isRequired: true },
  },
  run: async (flags, output) => {
    const path = resolve(flags.text('out') ?? '');
    const { publicText, privateText } = generateExchangeKey();
    try {
      const handle = await open(path, 'wx', OWNER_ONLY_FILE);
      try {
        await handle.writeFile(`${privateText.reveal()}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault';
      throw validationFailed({
        out: [code === 'EEXIST' ? 'exists already; an existing key is never replaced' : `cannot be made (${code})`],
      });
    }
    output.say(`The private key is in ${path}: back it up, nothing else opens what is sealed to it. Public key:`);
    output.print(publicText);
    return 0;
  },
};
