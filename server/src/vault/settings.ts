import type { Settings } from '../kernel/setting.js';
import { integerBetween, oneOf } from '../kernel/setting.js';

export const VAULT_SETTINGS = {
  fingerprints: {
    name: 'STRONGROOM_FINGERPRINTS',
    kind: oneOf(['revealed', 'masked']),
    default: 'revealed',
    about:
      '`revealed`: fingerprints are shown and searched only where data is in the clear; `masked`: also where it is masked, so a caller who can create tokens can find out masked numbers by comparing',
  },
  searchData: {
    name: 'STRONGROOM_SEARCH_DATA',
    kind: oneOf(['masked', 'revealed']),
    default: 'masked',
    about:
      '`revealed` lets `data:` in a search find only tokens the caller sees in the clear; `masked` also those it sees masked, so a caller can find out masked numbers by trying values. `revealed` is the safer choice in production',
  },
  searchTriesPerDay: {
    name: 'STRONGROOM_SEARCH_TRIES_PER_DAY',
    kind: integerBetween(0, 1_000_000_000),
    default: '2000',
    about:
      'Values that one Application, with its sessions, may look for in a day (UTC) by `data:` or `fingerprint:` where tokens are not revealed to it; then 429 `search_bound` until midnight. 0: no bound',
  },
  tokensPerRequestMax: {
    name: 'STRONGROOM_TOKENS_PER_REQUEST_MAX',
    kind: integerBetween(1, 10_000),
    default: '100',
    about: 'Tokens that one tokenize or detokenize request may have',
  },
} satisfies Settings;
