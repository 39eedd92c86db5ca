import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import { isEmail } from '../people/email.js';
import { checkedName } from './checked-name.js';
import type { Command, Flags } from './command.js';
import { operatorLog } from './operator-log.js';
import { addressOf, administrationOf, LINK_IS_GOOD } from './user-desk.js';
import { withCore } from './with-core.js';

export const userCreate: Command = {
  name: 'user create',
  summary: 'Make a user without a password; prints a link that sets one, once',
  flags: {
    email: { type: 'string', placeholder: 'address', about: 'What the user signs in with', isRequired: true },
    'first-name': { type: 'string', placeholder: 'text', about: '1 to 200 characters' },
    'last-name': { type: 'string', placeholder: 'text', about: '1 to 200 characters' },
    json: { type: 'boolean', about: 'Print id and link as one JSON object' },
  },
  run: (flags, output) =>
    withCore('user create', async (core) => {
      const email = flags.text('email') ?? '';
      if (!isEmail(email)) throw validationFailed({ email: ['must be an address such as ann@example.com'] });
      const profile = { email, firstName: nameFrom(flags, 'first-name'), lastName: nameFrom(flags, 'last-name') };
      const { id, link } = await administrationOf(core, output).create(profile);
      operatorLog(output).security.warn({ event: 'user_created', userId: id }, 'user changed by the operator');
      const address = addressOf(link);
      if (flags.isSet('json')) {
        output.print(JSON.stringify({ id, link: address }));
      } else {
        output.say(`User ${id}. This link sets its password. ${LINK_IS_GOOD}`);
        output.print(address);
      }
      return EXIT.ok;
    }),
};

function nameFrom(flags: Flags, flag: string): string | undefined {
  const text = flags.text(flag);
  return text === undefined ? undefined : checkedName(text, flag);
}
