import type { ExportedLine } from './import-source.js';
import type { ReadLine } from './token-line.js';
import { readTokenLine } from './token-line.js';

/** Lines that are written in one transaction. */
export interface ImportBatch {
  readonly lines: number;
  readonly tokens: readonly (ReadLine & { readonly kind: 'token' })[];
  readonly expired: number;
  /** Where the line stands and what is wrong with it, without a word of what it says. */
  readonly refused: readonly string[];
}

const BATCH_TOKENS = 100;
const BATCH_CHARACTERS = 8 * 1_048_576;

export async function* importBatches(
  lines: AsyncGenerator<ExportedLine>,
  nowMs: () => number,
): AsyncGenerator<ImportBatch, void> {
  let waiting: ExportedLine[] = [];
  let characters = 0;
  for await (const line of lines) {
    waiting.push(line);
    characters += line.text.length;
    if (waiting.length < BATCH_TOKENS && characters < BATCH_CHARACTERS) continue;
    yield batchOf(waiting, nowMs());
    waiting = [];
    characters = 0;
  }
  if (waiting.length > 0) yield batchOf(waiting, nowMs());
}

function batchOf(lines: readonly ExportedLine[], nowMs: number): ImportBatch {
  const tokens = new Map<string, ReadLine & { kind: 'token' }>();
  const refused: string[] = [];
  let expired = 0;
  for (const { text, segment, line } of lines) {
    const read = readTokenLine(text, nowMs);
    const place = `segment ${segment}, line ${line}`;
    if (read.kind === 'expired') expired += 1;
    else if (read.kind === 'refused') refused.push(`${place}: ${read.faults.join(', ')}`);
    // Both would pass for made, since the id is in the database after the statement that was to put it there.
    else if (tokens.has(read.id)) refused.push(`${place}: id appears twice`);
    else tokens.set(read.id, read);
  }
  return { lines: lines.length, tokens: [...tokens.values()], expired, refused };
}
