import type { Settings } from '../kernel/setting.js';
import { integerBetween } from '../kernel/setting.js';

export const WORKERS_SETTINGS = {
  workers: {
    name: 'STRONGROOM_WORKERS',
    kind: integerBetween(1, 64),
    default: '1',
    about: 'API processes on one port; about one for each core',
  },
} satisfies Settings;
