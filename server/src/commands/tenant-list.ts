import { formatDate } from '../kernel/dates.js';
import type { DeletedTenant, TenantRow } from '../resources/tenants/index.js';
import { listDeletedTenants, listTenants } from '../resources/tenants/index.js';
import type { Database } from '../storage/database.js';
import type { Command, Output } from './command.js';
import { printable } from './printable.js';
import { withCore } from './with-core.js';

const PAGE_ROWS = 1_000;
const BEFORE_ALL = { createdAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

export const tenantList: Command = {
  name: 'tenant list',
  summary: 'List every Tenant, oldest first',
  flags: {
    json: { type: 'boolean', about: 'One JSON object a line' },
    deleted: { type: 'boolean', about: 'Those that were deleted and whose log is kept, with the time of deletion' },
  },
  run: (flags, output) =>
    withCore('tenant list', async ({ database }) => {
      if (flags.isSet('deleted')) return listDeleted(database, output, flags.isSet('json'));
      const show = flags.isSet('json') ? asJson : asText;
      let after = BEFORE_ALL;
      for (;;) {
        const from = after;
        const page = await database.lookUp((tx) => listTenants(tx, from, PAGE_ROWS));
        for (const tenant of page) output.print(show(tenant));
        const last = page.at(-1);
        if (!last || page.length < PAGE_ROWS) return 0;
        after = { createdAt: last.created_at, id: last.id };
      }
    }),
};

async function listDeleted(database: Database, output: Output, isJson: boolean): Promise<number> {
  let after: DeletedTenant | undefined;
  for (;;) {
    const from = after;
    const page = await database.lookUp((tx) => listDeletedTenants(tx, from, PAGE_ROWS));
    for (const { id, deleted_at } of page) {
      const deletedAt = formatDate(deleted_at.getTime());
      output.print(isJson ? JSON.stringify({ id, deleted_at: deletedAt }) : `${id}  ${deletedAt}`);
    }
    after = page.at(-1);
    if (page.length < PAGE_ROWS) return 0;
  }
}

function asText({ id, created_at, name }: TenantRow): string {
  return `${id}  ${formatDate(created_at.getTime())}  ${printable(name)}`;
}

function asJson({ id, owner_id, name, created_at }: TenantRow): string {
  return JSON.stringify({ id, owner_id, name, created_at: formatDate(created_at.getTime()) });
}
