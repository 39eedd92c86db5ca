import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { groupIdOf, tieOf } from '../stored/names.js';
import { dataTerm, metadataTerm } from '../stored/terms.js';
import type { PlainToken } from './search-fixture.js';
import { readFingerprint } from './search-fixture.js';

/**
 * Puts tokens into the tables as the product keeps them; what is sealed is noise, since nobody opens it here. All at once:
 * the product's own sweep of what has expired must not find a token whose group is still missing.
 */
export async function storeTestTokens(
  owner: pg.Client,
  tenantId: string,
  keys: TenantKeys,
  tokens: readonly PlainToken[],
): Promise<void> {
  await owner.query('BEGIN');
  for (const [n, token] of tokens.entries()) {
    const group = groupIdOf(token.type, token.containers);
    const createdAt = new Date(token.createdAtMs);
    const terms = [
      ...token.indexes.map((value) => dataTerm(keys, value)),
      ...Object.entries(token.metadata).map(([key, value]) => metadataTerm(keys, key, value)),
    ];
    await owner.query(
      `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, created_by, modified_by, modified_at, expires_at,
         fingerprint, terms, data_version, sealed)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1, $13)`,
      [
        tenantId,
        token.id,
        token.type,
        group,
        createdAt,
        tieOf(token.id),
        token.createdBy,
        token.modifiedBy,
        dateOf(token.modifiedAtMs),
        dateOf(token.expiresAtMs),
        token.fingerprint === null ? null : readFingerprint(token.fingerprint),
        Buffer.concat(terms),
        randomBytes(32),
      ],
    );
    await owner.query(
      `INSERT INTO token_terms (tenant_id, term, created_at, tie) SELECT $1, term, $3, $4 FROM unnest($2::bytea[]) AS term`,
      [tenantId, terms, createdAt, tieOf(token.id)],
    );
    // Spread over slots, and over spellings of the same set.
    await owner.query(
      `INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count) VALUES ($1, $2, $3, $4, $5, 1)
       ON CONFLICT (tenant_id, group_id, slot) DO UPDATE SET count = token_groups.count + 1`,
      [tenantId, group, n % 3, token.type, token.containers],
    );
  }
  await owner.query('COMMIT');
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
