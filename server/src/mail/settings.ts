import { Secret } from '../kernel/secret.js';
import type { SettingKind, Settings } from '../kernel/setting.js';
import { isMailAddress } from './address.js';
import { parseSmtpUrl } from './smtp-url.js';

/** Secret, because it usually holds a password. */
const SMTP_URL: SettingKind<Secret<string>> = {
  values: '`smtp://` or `smtps://` address',
  parse(text) {
    if (parseSmtpUrl(text) === undefined) {
      throw new Error(
        'must be an address such as smtps://user:password@host:465, or smtp:// for STARTTLS, without options.',
      );
    }
    return new Secret(text);
  },
};

const ADDRESS: SettingKind<string> = {
  values: 'mail address',
  parse(text) {
    if (!isMailAddress(text)) throw new Error('must be an address such as strongroom@example.com, without a name.');
    return text;
  },
};

export const MAIL_SETTINGS = {
  smtpUrl: {
    name: 'STRONGROOM_SMTP_URL',
    kind: SMTP_URL,
    default: undefined,
    about:
      'SMTP server that sends mail to people; without it none is sent. `smtp://` to another machine needs STARTTLS there',
    isSecret: true,
  },
  mailFrom: {
    name: 'STRONGROOM_MAIL_FROM',
    kind: ADDRESS,
    default: undefined,
    about: 'Address that mail comes from; required with `STRONGROOM_SMTP_URL`',
  },
} satisfies Settings;
