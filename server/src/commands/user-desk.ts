import { readConfig } from '../config.js';
import type { Core } from '../core.js';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { openOutbox } from '../mail/mail.js';
import { createLinks, OPERATOR_LINK_HOURS } from '../people/links/links.js';
import { createNotices } from '../people/notices/notices.js';
import { createPortalAddress } from '../people/portal-address.js';
import type { OperatorLink, UserAdministration } from '../people/users/administration.js';
import { createUserAdministration } from '../people/users/administration.js';
import type { UserRow } from '../people/users/queries.js';
import { createSecurityLog } from '../security-log.js';
import type { Output } from './command.js';
import { operatorLog } from './operator-log.js';

export const USER_FLAG = {
  type: 'string',
  placeholder: 'id or e-mail',
  about: 'Which user; strongroom user list shows them',
  isRequired: true,
} as const;

export const LINK_IS_GOOD = `It works once, for ${OPERATOR_LINK_HOURS} hours at most, and is shown only now:`;

export function administrationOf(
  { database, keyStore }: Pick<Core, 'database' | 'keyStore'>,
  output: Output,
): UserAdministration {
  const { systemKeys } = keyStore;
  const links = createLinks({ clock: systemClock, keys: systemKeys });
  const rowMacKey = systemKeys.rowMac;
  const { portalUrl, port, smtpUrl } = readConfig();
  const notices = createNotices({
    mail: smtpUrl && openOutbox({ rowMacKey, clock: systemClock }),
    portalUrl: createPortalAddress(portalUrl, port).url,
    clock: systemClock,
    rowMacKey,
    security: createSecurityLog(operatorLog(output)),
  });
  return createUserAdministration({ database, clock: systemClock, links, rowMacKey, notices });
}

/** The user a flag names; refuses any other text. */
export async function knownUser(
  { find }: Pick<UserAdministration, 'find'>,
  flag: string,
  text: string | undefined,
): Promise<UserRow> {
  const user = await find(text ?? '');
  if (user) return user;
  throw validationFailed({ [flag]: ['is neither the id nor the address of a user; strongroom user list shows them'] });
}

/** As the settings of this command say; they are those of the service. */
export function addressOf({ path, secret }: OperatorLink): string {
  const { portalUrl, port } = readConfig();
  return `${createPortalAddress(portalUrl, port).url()}${path}#${secret.reveal()}`;
}
