import assert from 'node:assert/strict';

/** A step of a plan that reads a table or an index, named as plans in JSON name it. */
export interface ScanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
}

/** What was done of a step, which may be nothing. */
const DONE = String.raw`\((?:actual (?:time=\S+ )?rows=(\d+) loops=(\d+)|never executed)\)`;
const TABLE_SCAN = new RegExp(
  String.raw`-> +((?:Index|Index Only|Seq|Bitmap Heap) Scan)(?: Backward)?(?: using (\w+))? on (\w+).*${DONE}`,
);
const INDEX_SCAN = new RegExp(String.raw`-> +(Bitmap Index Scan) on (\w+).*${DONE}`);
const REMOVED = /Rows Removed by (?:Filter|Index Recheck): (\d+)/;
/** Tables and indexes of a shard have its number behind their names. */
const SHARD_NUMBER = /_\d+$/;

/**
 * What the server read that has the rows of a tenant, by its plan as text: what Citus makes of one in JSON is none. One server
 * was asked, or this fails.
 */
export function scansOfTask(rows: readonly { readonly 'QUERY PLAN': string }[]): ScanNode[] {
  const lines = rows.map((row) => row['QUERY PLAN']);
  assert.ok(
    lines.some((line) => /Task Count: 1$/.test(line)),
    `one server was asked\n${lines.join('\n')}`,
  );
  const found: ScanNode[] = [];
  for (const line of lines) {
    const [, kind, index, table = '', given, loops] = TABLE_SCAN.exec(line) ?? [];
    const [, ofIndex, name = '', entries, times] = INDEX_SCAN.exec(line) ?? [];
    const removed = REMOVED.exec(line)?.[1];
    const last = found.at(-1);
    if (kind !== undefined) found.push(scanOf(kind, given, loops, index, table));
    else if (ofIndex !== undefined) found.push(scanOf(ofIndex, entries, times, name));
    else if (removed !== undefined && last) {
      const before = last['Rows Removed by Filter'] ?? 0;
      found[found.length - 1] = { ...last, 'Rows Removed by Filter': before + Number(removed) };
    }
  }
  return found;
}

function scanOf(kind: string, rows = '0', loops = '0', index?: string, table?: string): ScanNode {
  return {
    'Node Type': kind,
    ...(table !== undefined && { 'Relation Name': table.replace(SHARD_NUMBER, '') }),
    ...(index !== undefined && { 'Index Name': index.replace(SHARD_NUMBER, '') }),
    'Actual Rows': Number(rows),
    'Actual Loops': Number(loops),
  };
}
