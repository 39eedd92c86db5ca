import type { Permission } from '../../../access/permissions.js';
import type { Principal } from '../../../access/principal.js';
import type { Rule } from '../../../access/rules.js';
import { tieOf } from '../stored/names.js';
import type { Filters } from './build.js';
import type { Query } from './parse.js';
import type { PlainToken } from './search-fixture.js';

/** Whether a token is meant, told token by token and without any cleverness: what the product is held against. */
export function meets(token: PlainToken, query: Query, includesChildren: boolean): boolean {
  switch (query.kind) {
    case 'all':
      return true;
    case 'not':
      return !meets(token, query.part, includesChildren);
    case 'and':
      return query.parts.every((part) => meets(token, part, includesChildren));
    case 'or':
      return query.parts.some((part) => meets(token, part, includesChildren));
    case 'metadata':
      return hasMetadata(token, query.key, query.value);
    case 'dates': {
      const ms = query.field === 'created_at' ? token.createdAtMs : token.modifiedAtMs;
      return ms !== null && ms >= (query.fromMs ?? -Infinity) && ms < (query.beforeMs ?? Infinity);
    }
    case 'text':
      return meetsText(token, query.field, query.value, includesChildren);
  }
}

function meetsText(
  token: PlainToken,
  field: Extract<Query, { kind: 'text' }>['field'],
  value: string,
  includesChildren: boolean,
): boolean {
  switch (field) {
    case 'id':
      return token.id === value;
    case 'type':
      return token.type === value;
    case 'fingerprint':
      return token.fingerprint === value;
    case 'created_by':
      return token.createdBy === value.toLowerCase();
    case 'modified_by':
      return token.modifiedBy === value.toLowerCase();
    case 'data':
      return token.indexes.includes(value);
    case 'container':
      if (value.endsWith('*')) {
        return token.containers.some((each) => each.startsWith(value.slice(0, -1).toLowerCase()));
      }
      return isIn(token, value, includesChildren);
  }
}

function hasMetadata(token: PlainToken, key: string, value: string): boolean {
  return Object.entries(token.metadata).some(([k, v]) => k === key && v.toLowerCase() === value.toLowerCase());
}

function isIn(token: PlainToken, path: string, includesChildren: boolean): boolean {
  const wanted = path.toLowerCase();
  const segments = wanted.split('/').filter((each) => each !== '');
  return token.containers.some((container) => {
    if (!includesChildren) return container === wanted;
    const own = container.split('/').filter((each) => each !== '');
    return segments.every((segment, n) => own[n] === segment);
  });
}

export function meetsFilters(token: PlainToken, filters: Filters, includesChildren: boolean): boolean {
  const { ids, types, containers, metadata = [], fingerprint } = filters;
  return (
    (ids === undefined || ids.includes(token.id)) &&
    (types === undefined || types.includes(token.type)) &&
    (containers === undefined || containers.some((path) => isIn(token, path, includesChildren))) &&
    metadata.every(([key, value]) => hasMetadata(token, key, value)) &&
    (fingerprint === undefined || token.fingerprint === fingerprint)
  );
}

export function maySee(token: PlainToken, principal: Principal, permission: Permission): boolean {
  return principal.grants.every(
    ({ permissions, rules }) =>
      permissions.has(permission) || rules.some((rule) => rule.permissions.includes(permission) && covers(rule, token)),
  );
}

function covers({ container, conditions = [] }: Rule, token: PlainToken): boolean {
  if (container !== undefined) {
    const path = container.endsWith('/') ? container : `${container}/`;
    return token.containers.some((each) => each === path || each.startsWith(path));
  }
  return (
    conditions.length > 0 &&
    conditions.every(({ attribute, operator, value }) => {
      const own = attribute === 'id' ? [token.id] : token.containers;
      return own.some((each) => (operator === 'equals' ? each === value : each.startsWith(value)));
    })
  );
}

export function isLive(token: PlainToken, nowMs: number): boolean {
  return token.expiresAtMs === null || token.expiresAtMs > nowMs;
}

/** Newest first, ties by id. */
export function compareForList(a: PlainToken, b: PlainToken): number {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  return tieOf(a.id) < tieOf(b.id) ? 1 : -1;
}
