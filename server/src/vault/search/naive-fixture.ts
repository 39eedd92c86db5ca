import type { Permission } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import type { Rule, Transform } from '../../access/rules.js';
import { tieOf } from '../stored/names.js';
import type { Filters, Held } from './build.js';
import type { Query } from './parse.js';
import type { PlainToken } from './search-fixture.js';

/** Whether a token can be found by what it holds. */
type CanBeFound = (token: PlainToken, by: Held) => boolean;
const ALWAYS: CanBeFound = () => true;

/** Whether a token is meant, told token by token and without any cleverness: what the product is held against. */
export function meets(
  token: PlainToken,
  query: Query,
  includesChildren: boolean,
  canBeFound: CanBeFound = ALWAYS,
): boolean {
  switch (query.kind) {
    case 'all':
      return true;
    case 'not':
      return !meets(token, query.part, includesChildren, canBeFound);
    case 'and':
      return query.parts.every((part) => meets(token, part, includesChildren, canBeFound));
    case 'or':
      return query.parts.some((part) => meets(token, part, includesChildren, canBeFound));
    case 'metadata':
      return hasMetadata(token, query.key, query.value);
    case 'dates': {
      const ms = query.field === 'created_at' ? token.createdAtMs : token.modifiedAtMs;
      return ms !== null && ms >= (query.fromMs ?? -Infinity) && ms < (query.beforeMs ?? Infinity);
    }
    case 'text':
      return meetsText(token, query.field, query.value, includesChildren, canBeFound);
  }
}

function meetsText(
  token: PlainToken,
  field: Extract<Query, { kind: 'text' }>['field'],
  value: string,
  includesChildren: boolean,
  canBeFound: CanBeFound,
): boolean {
  switch (field) {
    case 'id':
      return token.id === value;
    case 'type':
      return token.type === value;
    case 'fingerprint':
      return token.fingerprint === value && canBeFound(token, field);
    case 'created_by':
      return token.createdBy === value.toLowerCase();
    case 'modified_by':
      return token.modifiedBy === value.toLowerCase();
    case 'data':
      return token.indexes.includes(value) && canBeFound(token, field);
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

export function meetsFilters(
  token: PlainToken,
  filters: Filters,
  includesChildren: boolean,
  canBeFound: CanBeFound = ALWAYS,
): boolean {
  const { ids, types, containers, metadata = [], fingerprint } = filters;
  return (
    (ids === undefined || ids.includes(token.id)) &&
    (types === undefined || types.includes(token.type)) &&
    (containers === undefined || containers.some((path) => isIn(token, path, includesChildren))) &&
    metadata.every(([key, value]) => hasMetadata(token, key, value)) &&
    (fingerprint === undefined || (token.fingerprint === fingerprint && canBeFound(token, 'fingerprint')))
  );
}

export function maySee(token: PlainToken, principal: Principal, permission: Permission): boolean {
  return principal.grants.every(
    ({ permissions, rules }) =>
      permissions.has(permission) || rules.some((rule) => rule.permissions.includes(permission) && covers(rule, token)),
  );
}

/** How much of a token somebody is shown, decided rule by rule; undefined for a token it does not see. */
export function shownOf(token: PlainToken, principal: Principal, permission: Permission): Transform | undefined {
  const shown = principal.grants.map(({ permissions, rules }) => {
    const rule = rules.find((each) => each.permissions.includes(permission) && covers(each, token));
    return rule ? rule.transform : permissions.has(permission) ? 'mask' : undefined;
  });
  return (['redact', 'mask', 'reveal'] as const).find((each) => shown.includes(each) && !shown.includes(undefined));
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
