import { Secret } from '../kernel/secret.js';
import type { Settings } from '../kernel/setting.js';
import { PATH } from '../kernel/setting.js';

export const CRYPTO_SETTINGS = {
  rootKey: {
    name: 'STRONGROOM_ROOT_KEY',
    kind: { values: 'root keys, separated by commas', parse: (text: string) => new Secret(text) },
    default: undefined,
    about: 'The root key itself, as `strongroom root-key generate` prints it; while rotating new and old, with a comma',
    isSecret: true,
  },
  rootKeyFile: {
    name: 'STRONGROOM_ROOT_KEY_FILE',
    kind: PATH,
    default: undefined,
    about:
      'File that holds the root key, while rotating new and old, a line each; readable by the service alone (mode 0600)',
  },
} satisfies Settings;
