import type { Settings } from '../../kernel/setting.js';
import { integerBetween } from '../../kernel/setting.js';

export const REPORTS_SETTINGS = {
  includedMonthlyActiveTokens: {
    name: 'STRONGROOM_INCLUDED_MONTHLY_ACTIVE_TOKENS',
    kind: integerBetween(0, Number.MAX_SAFE_INTEGER),
    default: '1000',
    about: 'Monthly active tokens the plan of a tenant includes, shown in its usage report',
  },
} satisfies Settings;
