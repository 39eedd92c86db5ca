import type { Clock } from '../../../kernel/clock.js';
import type { EndSignal } from '../../../kernel/end-signal.js';
import { AppError } from '../../../kernel/errors.js';
import type { Membership } from '../../../people/people.js';
import type { Database } from '../../../storage/database.js';
import type { LogFilter, LogRow } from '../../logs/index.js';
import { exportPages, logBodyOf } from '../../logs/index.js';
import type { Withdrawn } from '../../portal/index.js';
import { CSV_HEAD, csvOf } from './csv.js';

export type ExportFormat = 'csv' | 'ndjson';

interface Form {
  readonly type: string;
  readonly head: string;
  readonly textOf: (rows: readonly LogRow[]) => string;
}

const FORMS: Readonly<Record<ExportFormat, Form>> = {
  csv: { type: 'text/csv; charset=utf-8; header=present', head: CSV_HEAD, textOf: csvOf },
  ndjson: {
    type: 'application/x-ndjson',
    head: '',
    textOf: (rows) => rows.map((row) => `${JSON.stringify(logBodyOf(row, true))}\n`).join(''),
  },
};

/** Rights are looked at again this often: each page for who reads slowly, and not for every one of a fast download. */
const ASKED_MS = 250;
const NAME_LENGTH_MAX = 60;

export interface ExportedFile {
  readonly database: Database;
  readonly clock: Clock;
  readonly tenantId: string;
  readonly filter: LogFilter;
  readonly format: ExportFormat;
  readonly signal: EndSignal;
  readonly askStill: () => Promise<Withdrawn | undefined>;
}

/** Reads on only while the client takes what was read, and may have it. */
export async function* fileOf(options: ExportedFile): AsyncGenerator<Buffer, void, void> {
  const { database, clock, tenantId, filter, format, signal } = options;
  const { head, textOf } = FORMS[format];
  if (head !== '') yield Buffer.from(head);
  let askedMs = clock.monotonicMs();
  for await (const rows of exportPages(database, tenantId, filter)) {
    if (signal.aborted) return;
    if (clock.monotonicMs() - askedMs >= ASKED_MS) {
      // Breaks off, so that nobody takes a part for the whole.
      if (await options.askStill()) throw new AppError('access_denied', 'The right to read the log was withdrawn.');
      askedMs = clock.monotonicMs();
    }
    yield Buffer.from(textOf(rows));
  }
}

export function fileHeaders(format: ExportFormat, { tenantId, tenantName }: Membership, atMs: number): string[] {
  const words = tenantName.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = words.join('-').slice(0, NAME_LENGTH_MAX) || tenantId;
  const day = new Date(atMs).toISOString().slice(0, 10);
  return [
    ...['Content-Type', FORMS[format].type],
    ...['Content-Disposition', `attachment; filename="logs-${name}-${day}.${format}"`],
  ];
}
