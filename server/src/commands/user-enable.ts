import { EXIT } from '../kernel/exit.js';
import type { Command } from './command.js';
import { operatorLog } from './operator-log.js';
import { administrationOf, knownUser, USER_FLAG } from './user-desk.js';
import { withCore } from './with-core.js';

export const userEnable: Command = {
  name: 'user enable',
  summary: 'Let a user in again who was disabled',
  flags: { user: USER_FLAG },
  run: (flags, output) =>
    withCore('user enable', async (core) => {
      const users = administrationOf(core, output);
      const { id } = await knownUser(users, 'user', flags.text('user'));
      if (await users.enable(id)) {
        operatorLog(output).security.warn({ event: 'user_enabled', userId: id }, 'user changed by the operator');
      } else {
        output.say(`User ${id} was not disabled.`);
      }
      return EXIT.ok;
    }),
};
