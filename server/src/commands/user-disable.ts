import { EXIT } from '../kernel/exit.js';
import type { Command } from './command.js';
import { operatorLog } from './operator-log.js';
import { administrationOf, knownUser, USER_FLAG } from './user-desk.js';
import { withCore } from './with-core.js';

export const userDisable: Command = {
  name: 'user disable',
  summary: 'Lock a user out: its sessions and links end at once, and it cannot sign in',
  flags: { user: USER_FLAG },
  run: (flags, output) =>
    withCore('user disable', async (core) => {
      const users = administrationOf(core, output);
      const { id } = await knownUser(users, 'user', flags.text('user'));
      if (await users.disable(id)) {
        operatorLog(output).security.warn({ event: 'user_disabled', userId: id }, 'user changed by the operator');
      } else {
        output.say(`User ${id} was disabled before.`);
      }
      return EXIT.ok;
    }),
};
