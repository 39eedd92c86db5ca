import type { Database } from '../../../storage/database.js';
import type { LogFilter } from '../filters/filter.js';
import type { LogRow } from '../queries.js';
import { alongShorterHistory, listLogs } from '../queries.js';
import { isNobody } from '../service.js';

const PAGE_ROWS = 1_000;

/** Every entry that passes a filter, newest first, a page at a time: the next one is read when somebody asks for it. */
export async function* exportPages(
  database: Database,
  tenantId: string,
  filter: LogFilter,
): AsyncGenerator<readonly LogRow[], void, void> {
  if (isNobody(filter)) return;
  let place = await database.readPage(tenantId, (tx) => alongShorterHistory(tx, filter));
  for (;;) {
    const from = place;
    const rows = await database.readPage(tenantId, (tx) => listLogs(tx, from, PAGE_ROWS, 0));
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) return;
    place = { ...place, after: { atMs: last.created_at.getTime(), id: last.id } };
  }
}
