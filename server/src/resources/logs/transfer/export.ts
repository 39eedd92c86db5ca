import type { Database } from '../../../storage/database.js';
import { listLogsInOrder } from '../queries.js';
import { bodyOf } from '../service.js';

const PAGE_ROWS = 1_000;
const BEFORE_ALL = { atMs: 0, id: '00000000-0000-0000-0000-000000000000' };

export interface ExportLogsOptions {
  readonly database: Database;
  readonly tenantId: string;
  /** Entries of a later moment are left out, so that a busy tenant's export has an end. */
  readonly untilMs: number;
  /** Takes whole lines; the next ones are read when it is done with these. */
  readonly write: (lines: string) => Promise<void>;
  readonly shouldStop: () => boolean;
}

/** Every entry of a tenant as one JSON object a line, oldest first. Holds one page at a time. Gives how many there were. */
export async function exportLogs(options: ExportLogsOptions): Promise<number> {
  const { database, tenantId, untilMs } = options;
  let after = BEFORE_ALL;
  for (let count = 0; ; ) {
    const from = after;
    const rows = await database.read(tenantId, (tx) => listLogsInOrder(tx, from, untilMs, PAGE_ROWS));
    if (rows.length > 0) await options.write(rows.map((row) => `${JSON.stringify(bodyOf(row, true))}\n`).join(''));
    count += rows.length;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS || options.shouldStop()) return count;
    after = { atMs: last.created_at.getTime(), id: last.id };
  }
}
