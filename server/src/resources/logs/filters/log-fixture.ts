import assert from 'node:assert/strict';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { insertOf } from './plan-fixture.js';

export interface LogPage {
  readonly ids: readonly string[];
  readonly after: string | undefined;
  readonly total: number | undefined;
}

export interface FilteredLog {
  readonly tenant: TestTenant;
  /** `query` names the columns of entries beside tenant and id; gives the ids from the newest on, as the list has them. */
  write(query: string, values?: readonly unknown[]): Promise<string[]>;
  page(query: string): Promise<LogPage>;
  /** Along the cursors of pages of a size, to the end. */
  walk(query: string, size: number): Promise<string[]>;
}

/** A tenant whose log holds only what a test writes into it. */
export async function openLog(app: TestApp): Promise<FilteredLog> {
  const tenant = await app.makeTenant();
  await app.db.owner.query('DELETE FROM logs WHERE tenant_id = $1', [tenant.id]);
  const log: FilteredLog = {
    tenant,
    async write(query, values = []) {
      const entries = `SELECT '${tenant.id}'::uuid AS tenant_id, gen_random_uuid() AS id, 'application' AS actor_type,
        'm' AS message, entry.* FROM (${query}) AS entry`;
      const { rows } = await app.db.owner.query<{ id: string }>(
        `WITH written AS (${insertOf(entries)} RETURNING created_at, id) SELECT id FROM written ORDER BY created_at DESC, id DESC`,
        [...values],
      );
      return rows.map(({ id }) => id);
    },
    async page(query) {
      const { status, json, text } = await app.call('GET', `/logs?include=details&${query}`, { key: tenant.key });
      assert.equal(status, 200, `${query}: ${text}`);
      const ids = json.data.map((entry: { id: string }) => entry.id);
      return { ids, after: json.pagination.after, total: json.pagination.total_items };
    },
    async walk(query, size) {
      const walked: string[] = [];
      let start: string | undefined = '';
      while (start !== undefined) {
        const { ids, after }: LogPage = await log.page(`${query}&size=${size}&start=${start}`);
        walked.push(...ids);
        start = after;
      }
      return walked;
    },
  };
  return log;
}
