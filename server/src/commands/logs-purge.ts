import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import { eraseLogsEarly } from '../resources/tenants/index.js';
import type { Command } from './command.js';
import { operatorLog } from './operator-log.js';
import { knownFate } from './tenant-fate.js';
import { withCore } from './with-core.js';

export const logsPurge: Command = {
  name: 'logs purge',
  summary: 'Erase the log of a deleted Tenant before its time',
  flags: {
    tenant: { type: 'string', placeholder: 'tenant id', about: 'Tenant that was deleted', isRequired: true },
  },
  run: (flags, output) =>
    withCore('logs purge', async ({ database }) => {
      const { tenantId, deleted_at } = await knownFate(database, flags.text('tenant'));
      if (deleted_at === null) {
        throw validationFailed({ tenant: ['is a Tenant that lives: its log is not erased by hand'] });
      }
      const log = operatorLog(output);
      log.security.warn({ event: 'logs_purge_asked', tenantId }, 'the log of a deleted tenant is being erased');
      let entries = 0;
      for (;;) {
        const erased = await eraseLogsEarly(database, tenantId);
        if (erased === 0) break;
        entries += erased;
      }
      log.security.warn({ event: 'logs_purged', tenantId, entries }, 'the log of a deleted tenant was erased');
      return EXIT.ok;
    }),
};
