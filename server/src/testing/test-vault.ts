import assert from 'node:assert/strict';
import { createExpressions } from '../expressions/expressions.js';
import { createLargeWork } from '../kernel/large-work.js';
import type { Vault, VaultOptions } from '../vault/index.js';
import { createVault } from '../vault/index.js';
import type { TestApp } from './test-app.js';

/** A vault beside that of a running app, on the same database. */
export function testVault({ database, keyStore }: TestApp, options: Partial<VaultOptions> = {}): Vault {
  return createVault({
    database,
    keyring: keyStore.keyring,
    expressions: createExpressions(),
    largeWork: createLargeWork(),
    tokensPerRequestMax: 100,
    fingerprints: 'revealed',
    searchData: 'masked',
    searchTriesPerDay: 0,
    onSearchBound: () => assert.fail('too many values were tried'),
    settingsOf: () => ({ isFingerprinting: false, isDeduplicating: false }),
    onIntegrityFault: () => assert.fail('a stored token was altered'),
    ...options,
  });
}
