import { EXIT } from '../kernel/exit.js';
import type { Command } from './command.js';
import { operatorLog } from './operator-log.js';
import { addressOf, administrationOf, knownUser, LINK_IS_GOOD, USER_FLAG } from './user-desk.js';
import { withCore } from './with-core.js';

export const userResetPassword: Command = {
  name: 'user reset-password',
  summary: 'End all sessions of a user and forget its password; prints a link that sets a new one, once',
  flags: {
    user: USER_FLAG,
    'second-factors': {
      type: 'boolean',
      about: 'Remove its authenticator, recovery codes, passkeys and linked identities as well',
    },
    json: { type: 'boolean', about: 'Print id and link as one JSON object' },
  },
  run: (flags, output) =>
    withCore('user reset-password', async (core) => {
      const users = administrationOf(core, output);
      const user = await knownUser(users, 'user', flags.text('user'));
      const link = await users.resetPassword(user, { withSecondFactors: flags.isSet('second-factors') });
      const { withSecondFactors } = link;
      operatorLog(output).security.warn(
        { event: 'user_password_reset', userId: user.id, withSecondFactors },
        'user changed by the operator',
      );
      const address = addressOf(link);
      if (flags.isSet('json')) {
        output.print(JSON.stringify({ id: user.id, link: address }));
      } else {
        output.say(`User ${user.id}. This link sets a new password. ${LINK_IS_GOOD}`);
        output.print(address);
      }
      return EXIT.ok;
    }),
};
