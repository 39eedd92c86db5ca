import type { LogRow } from '../../logs/index.js';
import { logBodyOf } from '../../logs/index.js';

const COLUMNS = [
  ...['created_at', 'id', 'actor_type', 'actor_id', 'entity_type', 'entity_id', 'operation', 'message', 'outcome'],
  ...['source_address', 'trace_id', 'entity_version', 'tenant_id', 'changes'],
] as const;

/** What a spreadsheet takes for the beginning of a formula, in wide characters too. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const LINE_END = '\r\n';

export const CSV_HEAD = `${COLUMNS.map(cell).join(',')}${LINE_END}`;

/** RFC 4180, every cell in quotation marks. Ids are chosen by clients, so none may become a formula where the file is opened. */
export function csvOf(rows: readonly LogRow[]): string {
  return rows.map((row) => `${lineOf(row)}${LINE_END}`).join('');
}

function lineOf(row: LogRow): string {
  const { changes, ...others } = logBodyOf(row, true);
  const body: Readonly<Record<string, string | number | undefined>> = {
    ...others,
    changes: changes && JSON.stringify(changes),
  };
  return COLUMNS.map((name) => cell(String(body[name] ?? ''))).join(',');
}

function cell(text: string): string {
  const safe = BEGINS_FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
