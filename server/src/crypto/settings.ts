import { Secret } from '../kernel/secret.js';
import type { Settings } from '../kernel/setting.js';
import { PATH } from '../kernel/setting.js';

export const CRYPTO_SETTINGS = {
  rootKey: {
    name: 'STRONGROOM_ROOT_KEY',
    kind: { values: 'root keys, separated by commas', parse: (text: string) => new Secret(text) },
    default: undefined,
    about:
      'The root key itself, as `strongroom root-key generate` prints it; during a rotation the new and the old one',
    isSecret: true,
  },
  rootKeyFile: {
    name: 'STRONGROOM_ROOT_KEY_FILE',
    kind: PATH,
    default: undefined,
    about:
      'File that holds the root key, during a rotation the new and the old one, one per line; readable only by the service (mode 0600)',
  },
} satisfies Settings;
