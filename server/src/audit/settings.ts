import type { Settings } from '../kernel/setting.js';
import { integerBetween, oneOf } from '../kernel/setting.js';

export const AUDIT_SETTINGS = {
  audit: {
    name: 'STRONGROOM_AUDIT',
    kind: oneOf(['standard', 'full']),
    default: 'standard',
    about: '`full` also logs reads of management entities and denied requests',
  },
  logRetentionMonths: {
    name: 'STRONGROOM_LOG_RETENTION_MONTHS',
    kind: integerBetween(1, 1_200),
    default: undefined,
    about: 'Whole months of the audit log kept before the current one; older ones are dropped. Unset: kept for ever',
  },
} satisfies Settings;
