import { operatorContext } from '../audit/entry.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { createOwnershipTransfer } from '../resources/tenants/index.js';
import { createSecurityLog } from '../security-log.js';
import type { Command } from './command.js';
import { knownTenant } from './known-tenant.js';
import { operatorLog } from './operator-log.js';
import { administrationOf, knownUser } from './user-desk.js';
import { withCore } from './with-core.js';

export const tenantTransfer: Command = {
  name: 'tenant transfer',
  summary: 'Give a Tenant to another user; its owner becomes an ADMIN of it',
  flags: {
    tenant: { type: 'string', placeholder: 'tenant id', about: 'Tenant that gets another owner', isRequired: true },
    to: { type: 'string', placeholder: 'id or e-mail', about: 'User that is to own it', isRequired: true },
  },
  run: (flags, output) =>
    withCore('tenant transfer', async (core) => {
      const { id: tenantId } = await knownTenant(core.database, flags.text('tenant'));
      const { id: userId } = await knownUser(administrationOf(core, output), 'to', flags.text('to'));
      const transfer = createOwnershipTransfer({
        database: core.database,
        systemKeys: core.keyStore.systemKeys,
        ...createSecurityLog(operatorLog(output)),
        // Nothing is remembered here; running servers hear of the change.
        forgetTenant: () => {},
      });
      await transfer(tenantId, userId, operatorContext(systemClock.nowMs()));
      output.say(`User ${userId} owns Tenant ${tenantId}.`);
      return EXIT.ok;
    }),
};
