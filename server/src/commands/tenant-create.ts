import { operatorContext } from '../audit/entry.js';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { isUuid, newId } from '../kernel/ids.js';
import { isUser } from '../people/users/queries.js';
import { createTenant, tenantMaker } from '../resources/tenants/index.js';
import { checkedName } from './checked-name.js';
import type { Command } from './command.js';
import { withCore } from './with-core.js';

export const tenantCreate: Command = {
  name: 'tenant create',
  summary: 'Make a Tenant and its keys; prints its id',
  flags: {
    name: { type: 'string', placeholder: 'text', about: 'Name of the Tenant, 1 to 200 characters', isRequired: true },
    owner: { type: 'string', placeholder: 'user id', about: 'User that owns it; a new one is made without it' },
  },
  run: (flags, output) =>
    withCore('tenant create', async ({ database, keyStore }) => {
      const name = checkedName(flags.text('name') ?? '');
      const owner = flags.text('owner')?.toLowerCase();
      if (owner !== undefined && !(isUuid(owner) && (await database.lookUp((tx) => isUser(tx, owner))))) {
        throw validationFailed({ owner: ['is not the id of a user'] });
      }
      const tenantId = newId();
      const auditContext = operatorContext(systemClock.nowMs());
      const tenant = { name, ownerId: owner ?? newId(), isNewOwner: owner === undefined };
      const maker = await tenantMaker(keyStore);
      await database.write(tenantId, (tx) => createTenant(tx, maker, auditContext, tenant));
      output.print(tenantId);
      return 0;
    }),
};
