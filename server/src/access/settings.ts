import { Secret } from '../kernel/secret.js';
import type { SettingKind, Settings } from '../kernel/setting.js';
import { oneOf } from '../kernel/setting.js';
import { applicationTypeOfKey, isWellFormedApiKey } from './api-key.js';

const MANAGEMENT_KEY: SettingKind<Secret<string>> = {
  values: 'API key',
  parse(text) {
    if (!isWellFormedApiKey(text) || applicationTypeOfKey(text) !== 'management') {
      throw new Error('must be a well-formed management key. Make one with strongroom key generate.');
    }
    return new Secret(text);
  },
};

export const ACCESS_SETTINGS = {
  sessionGrants: {
    name: 'STRONGROOM_SESSION_GRANTS',
    kind: oneOf(['held', 'any']),
    default: 'held',
    about: '`any` lets a session do more than the Application that authorized it; `held` does not',
  },
  bootstrapApiKey: {
    name: 'STRONGROOM_BOOTSTRAP_API_KEY',
    kind: MANAGEMENT_KEY,
    default: undefined,
    about: 'Key of the first management Application, for scripts; made by `strongroom key generate`',
    isSecret: true,
  },
} satisfies Settings;
