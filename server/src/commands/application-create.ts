import type { ApplicationType } from '../access/permissions.js';
import { APPLICATION_TYPES } from '../access/permissions.js';
import { operatorContext } from '../audit/entry.js';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { createApplication } from '../resources/applications/index.js';
import { checkedName } from './checked-name.js';
import type { Command } from './command.js';
import { knownTenant } from './known-tenant.js';
import { withCore } from './with-core.js';

export const applicationCreate: Command = {
  name: 'application create',
  summary: 'Make an Application in a Tenant; prints its key, once',
  flags: {
    tenant: { type: 'string', placeholder: 'tenant id', about: 'Tenant it belongs to', isRequired: true },
    type: { type: 'string', placeholder: 'type', about: APPLICATION_TYPES.join(', '), isRequired: true },
    permission: {
      type: 'string',
      placeholder: 'name',
      about: 'A permission, such as tenant:read; GET /permissions lists them',
      isRequired: true,
      isRepeatable: true,
    },
    name: { type: 'string', placeholder: 'text', about: 'Name of the Application; its type without it' },
    json: { type: 'boolean', about: 'Print id and key as one JSON object' },
  },
  run: (flags, output) =>
    withCore('application create', async ({ database, keyStore }) => {
      const type = checkedType(flags.text('type'));
      const { id: tenantId } = await knownTenant(database, flags.text('tenant'));
      const auditContext = operatorContext(systemClock.nowMs());
      const application = {
        name: checkedName(flags.text('name') ?? `${type} application`),
        type,
        permissions: flags.all('permission'),
      };
      const { id, key } = await database.write(tenantId, (tx) =>
        createApplication(tx, keyStore.systemKeys, auditContext, application),
      );
      if (flags.isSet('json')) {
        output.print(JSON.stringify({ id, key: key.reveal() }));
      } else {
        output.say(`Application ${id}. Its key is shown only now:`);
        output.print(key.reveal());
      }
      return 0;
    }),
};

function checkedType(text: string | undefined): ApplicationType {
  const type = APPLICATION_TYPES.find((candidate) => candidate === text);
  if (!type) throw validationFailed({ type: [`must be one of ${APPLICATION_TYPES.join(', ')}`] });
  return type;
}
