import { kindNumber } from '../../../server/dist/audit/kind.js';

/** The statements of the baselines: the same rows as the product writes, one statement each. */

const TOKEN = `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, fingerprint, terms, data_version, sealed)`;
const LOG = `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome, trace_id, kind)`;
const KIND = kindNumber({ entity_type: `'card'`, operation: `'create'`, outcome: `'success'` });
const TERM = `INSERT INTO token_terms (tenant_id, term, created_at, tie)`;
export const GROUPS = `INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count) VALUES ($1, $2, 7, 'card', '{/pci/high/}', $3)
  ON CONFLICT (tenant_id, group_id, slot) DO UPDATE SET count = token_groups.count + EXCLUDED.count`;
export const ACTIVE = `INSERT INTO active_token_counts (tenant_id, month, slot, count) VALUES ($1, date_trunc('month', now()), 7, $2)
  ON CONFLICT (tenant_id, month, slot) DO UPDATE SET count = active_token_counts.count + EXCLUDED.count`;

export const ONE = {
  token: { name: 'token', text: `${TOKEN} VALUES ($1, $2, 'card', $3, $4, $5, $6, $7, 1, $8)` },
  terms: { name: 'terms', text: `${TERM} VALUES ($1, $2, $4, $5), ($1, $3, $4, $5)` },
  log: {
    name: 'log',
    text: `${LOG} VALUES ($1, $2, $3, 'application', $1, 'card', $4, 'create', 'Token created', 'success', $4, ${KIND})`,
  },
};

export const MANY = {
  token: {
    name: 'tokens',
    text: `${TOKEN} SELECT $1, id, 'card', $2, $3, id::uuid, print, terms, 1, sealed
           FROM unnest($4::text[], $5::bytea[], $6::bytea[], $7::bytea[]) AS given (id, print, terms, sealed)`,
  },
  terms: {
    name: 'many_terms',
    text: `${TERM} SELECT $1, term, $2, tie FROM unnest($3::bytea[], $4::uuid[]) AS given (term, tie)`,
  },
  log: {
    name: 'logs',
    text: `${LOG} SELECT $1, $2, log_id, 'application', $1, 'card', id, 'create', 'Token created', 'success', id, ${KIND}
           FROM unnest($3::uuid[], $4::text[]) AS given (log_id, id)`,
  },
};

export const READ = {
  name: 'read',
  text: 'SELECT id, type, created_at, created_by, modified_at, expires_at, fingerprint, sealed FROM tokens WHERE tenant_id = $1 AND id = $2',
};

const COLUMNS = 'id, type, created_at, created_by, modified_at, expires_at, fingerprint, sealed';

export const LIST = {
  name: 'list',
  text: `SELECT ${COLUMNS} FROM tokens WHERE tenant_id = $1 ORDER BY created_at DESC, tie DESC LIMIT $2`,
};

/** The newest tokens with a term; which term does not matter, every token of the run has the same two. */
export const SEARCH = {
  name: 'search',
  text: `SELECT ${COLUMNS.replace(/\w+/g, (name) => `t.${name}`)}
         FROM (SELECT created_at, tie FROM token_terms WHERE tenant_id = $1 AND term = $3
               ORDER BY created_at DESC, tie DESC LIMIT $2) AS found
         JOIN tokens AS t ON t.tenant_id = $1 AND t.created_at = found.created_at AND t.tie = found.tie`,
};
export const ANY_TERM = 'SELECT term FROM token_terms WHERE tenant_id = $1 LIMIT 1';

export const PATCH = {
  name: 'patch',
  text: `UPDATE tokens SET sealed = $3, modified_at = $4 WHERE tenant_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
};

export const DELETE = {
  token: {
    name: 'delete_token',
    text: 'DELETE FROM tokens WHERE tenant_id = $1 AND id = $2 RETURNING terms, group_id, created_at, tie',
  },
  terms: {
    name: 'delete_terms',
    text: 'DELETE FROM token_terms WHERE tenant_id = $1 AND term = ANY ($2::bytea[]) AND created_at = $3 AND tie = $4',
  },
};
