import { generateApiKey } from '../access/api-key.js';
import { APPLICATION_TYPES } from '../access/permissions.js';
import { validationFailed } from '../kernel/errors.js';
import type { Command } from './command.js';

export const keyGenerate: Command = {
  name: 'key generate',
  summary: 'Print a well-formed API key, for STRONGROOM_BOOTSTRAP_API_KEY',
  flags: {
    type: { type: 'string', placeholder: 'type', about: `${APPLICATION_TYPES.join(', ')}; management without it` },
  },
  run: async (flags, output) => {
    const asked = flags.text('type') ?? 'management';
    const type = APPLICATION_TYPES.find((candidate) => candidate === asked);
    if (!type) throw validationFailed({ type: [`must be one of ${APPLICATION_TYPES.join(', ')}`] });
    output.print(generateApiKey(type).reveal());
    return 0;
  },
};
