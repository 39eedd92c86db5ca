import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuleDraft } from '../access/check-rules.js';
import { generateExchangeKey, parsePrivateExchangeKey, parsePublicExchangeKey } from '../crypto/exchange-key.js';
import type { StreamLock, StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { identityUnlock, recipientLock } from '../crypto/sealed-stream-keys.js';
import { createExpressions } from '../expressions/expressions.js';
import { systemClock } from '../kernel/clock.js';
import type { ExportOptions, ExportOutcome } from '../transfer/export.js';
import { exportTokens } from '../transfer/export.js';
import type { ImportOptions, ImportOutcome } from '../transfer/import.js';
import { importTokens } from '../transfer/import.js';
import type { TestApp } from './test-app.js';

export const ALL_OF_TOKENS = ['create', 'update', 'read', 'search', 'delete', 'use'].map((act) => `token:${act}`);

/** Rules under which a private Application sees everything as it is. */
export const REVEAL_ALL: readonly RuleDraft[] = [
  { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions: ALL_OF_TOKENS },
];

export interface TransferPair {
  readonly lock: StreamLock;
  readonly unlock: StreamUnlock;
  readonly publicText: string;
  readonly privateText: string;
}

export function makeTransferPair(): TransferPair {
  const { publicText, privateText } = generateExchangeKey();
  return {
    lock: recipientLock(parsePublicExchangeKey(publicText)),
    unlock: identityUnlock(parsePrivateExchangeKey(privateText.reveal())),
    publicText,
    privateText: privateText.reveal(),
  };
}

export async function makeScratch(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'sr-transfer-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export function exportFrom(
  app: TestApp,
  tenantId: string,
  folder: string,
  { lock }: Pick<TransferPair, 'lock'>,
  more: Partial<ExportOptions> = {},
): Promise<ExportOutcome> {
  return exportTokens({
    database: app.database,
    keyring: app.keyStore.keyring,
    clock: systemClock,
    tenantId,
    folder,
    isResuming: false,
    segmentTokensMax: 100,
    lockLike: async () => lock,
    shouldStop: () => false,
    onProgress: () => {},
    ...more,
  });
}

export function importInto(
  app: TestApp,
  tenantId: string,
  folder: string,
  { unlock }: Pick<TransferPair, 'unlock'>,
  more: Partial<ImportOptions> = {},
): Promise<ImportOutcome> {
  return importTokens({
    database: app.database,
    keyring: app.keyStore.keyring,
    expressions: createExpressions(),
    clock: systemClock,
    tenantId,
    settings: { isFingerprinting: false, isDeduplicating: false },
    folder,
    unlock,
    onConflict: 'fail',
    isDeduplicating: false,
    shouldStop: () => false,
    onProgress: () => {},
    ...more,
  });
}

/** Makes generic tokens in bulk; gives their ids. */
export async function makeMany(app: TestApp, key: string, count: number, text = 'value'): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 100) {
    const body = Array.from({ length: Math.min(100, count - made) }, (_, n) => ({
      type: 'token',
      data: `${text} ${made + n}`,
    }));
    const answer = await app.call('POST', '/tokenize', { key, body });
    assert.ok(answer.status < 300, answer.text);
    ids.push(...answer.json.map(({ id }: { id: string }) => id));
  }
  return ids;
}

/** How often each token was logged with this message. */
export async function logCounts(app: TestApp, tenantId: string, message: string): Promise<Map<string, number>> {
  const { rows } = await app.db.owner.query<{ entity_id: string; count: string }>(
    `SELECT entity_id, count(*) AS count FROM logs WHERE tenant_id = $1 AND message = $2 AND actor_id IS NULL
     GROUP BY entity_id`,
    [tenantId, message],
  );
  return new Map(rows.map((row) => [row.entity_id, Number(row.count)]));
}
