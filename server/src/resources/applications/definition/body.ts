import { parseRules } from '../../../access/grants.js';
import type { ApplicationType } from '../../../access/permissions.js';
import { formatDate } from '../../../kernel/dates.js';
import type { ListedApiKeyRow } from '../keys/queries.js';
import type { ApplicationRow, NamedKeyRow } from '../queries.js';
import type { ApplicationBody, ApplicationKeyBody, ApplicationKeyName, ShownApplication } from '../schema.js';

/** Only for a row whose seal was checked or just made. */
export function applicationBodyOf(row: ApplicationRow): ApplicationBody {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    type: row.type as ApplicationType, // The column takes no other value.
    permissions: [...row.permissions],
    rules: parseRules(row.rules).map(({ description, container, conditions, permissions, ...rule }) => ({
      ...(description !== undefined && { description }),
      ...rule,
      ...(container !== undefined && { container }),
      ...(conditions !== undefined && { conditions: [...conditions] }),
      permissions: [...permissions],
    })),
    ...(row.expires_at !== null && { expires_at: formatDate(row.expires_at.getTime()) }),
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    ...(row.modified_by !== null && { modified_by: row.modified_by }),
    ...(row.modified_at !== null && { modified_at: formatDate(row.modified_at.getTime()) }),
  };
}

/** The same with the keys that work. */
export function shownApplicationOf(row: ApplicationRow, keys: readonly NamedKeyRow[]): ShownApplication {
  return { ...applicationBodyOf(row), keys: keys.map(keyNameOf) };
}

/** What every answer tells of a key, and of a new one all there is. */
export function keyNameOf(row: NamedKeyRow): ApplicationKeyName {
  return {
    id: row.id,
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
  };
}

export function keyBodyOf(row: ListedApiKeyRow): ApplicationKeyBody {
  return {
    ...keyNameOf(row),
    ...(row.expires_at !== null && { expires_at: formatDate(row.expires_at.getTime()) }),
    ...(row.last_used_at !== null && { last_used_at: formatDate(row.last_used_at.getTime()) }),
  };
}
