import { parseUrl } from '../kernel/parse-url.js';
import type { SettingKind, Settings } from '../kernel/setting.js';
import { PATH } from '../kernel/setting.js';
import { isEmail } from './email.js';

/** Scheme, host and port alone: the Portal has fixed paths below it. */
const ORIGIN: SettingKind<string> = {
  values: '`https://` address without a path',
  parse(text) {
    const url = parseUrl(text);
    const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!isOrigin) throw new Error('must be an address without a path, such as https://vault.example.com.');
    return url.origin;
  },
};

const EMAIL: SettingKind<string> = {
  values: 'e-mail address',
  parse(text) {
    if (!isEmail(text)) throw new Error('must be an address such as owner@example.com, without a name.');
    return text;
  },
};

export const PEOPLE_SETTINGS = {
  portalUrl: {
    name: 'STRONGROOM_PORTAL_URL',
    kind: ORIGIN,
    default: undefined,
    about:
      'Where people open the Portal: links to it begin so, and its requests must come from there. `http://localhost:` and the port without it',
  },
  ownerEmail: {
    name: 'STRONGROOM_OWNER_EMAIL',
    kind: EMAIL,
    default: undefined,
    about:
      'Address with which the first owner signs in, for scripts: sets it up instead of a link; no effect afterwards',
  },
  ownerPasswordFile: {
    name: 'STRONGROOM_OWNER_PASSWORD_FILE',
    kind: PATH,
    default: undefined,
    about:
      'File that holds the password of the first owner, required with `STRONGROOM_OWNER_EMAIL`; readable only by the service (mode 0600)',
  },
} satisfies Settings;
