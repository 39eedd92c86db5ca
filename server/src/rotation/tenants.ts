import { listTenants } from '../resources/tenants/index.js';
import type { Database } from '../storage/database.js';
import { retryWhileUnreachable, type Wait } from './retry.js';

const PAGE_ROWS = 1_000;
const BEFORE_ALL = { createdAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Every tenant that is not deleted, oldest first, a page at a time. */
export async function* everyTenantId(database: Database, wait: Wait): AsyncGenerator<string> {
  let after = BEFORE_ALL;
  for (;;) {
    const from = after;
    const page = await retryWhileUnreachable(wait, () => database.lookUp((tx) => listTenants(tx, from, PAGE_ROWS)));
    for (const { id } of page) yield id;
    const last = page.at(-1);
    if (!last || page.length < PAGE_ROWS) return;
    after = { createdAt: last.created_at, id: last.id };
  }
}
