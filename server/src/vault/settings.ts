import type { Settings } from '../kernel/setting.js';
import { integerBetween, oneOf } from '../kernel/setting.js';

export const VAULT_SETTINGS = {
  fingerprints: {
    name: 'STRONGROOM_FINGERPRINTS',
    kind: oneOf(['revealed', 'masked']),
    default: 'revealed',
    about:
      '`masked` shows fingerprints, and finds by them, also where data is masked: whoever can create tokens then finds out masked numbers by comparing; `revealed` only where it is in the clear',
  },
  searchData: {
    name: 'STRONGROOM_SEARCH_DATA',
    kind: oneOf(['masked', 'revealed']),
    default: 'masked',
    about:
      '`revealed` lets `data:` in a search find only tokens the caller sees in the clear; `masked` also those it sees masked',
  },
  tokensPerRequestMax: {
    name: 'STRONGROOM_TOKENS_PER_REQUEST_MAX',
    kind: integerBetween(1, 10_000),
    default: '100',
    about: 'Tokens one tokenize or detokenize request may be about',
  },
} satisfies Settings;
