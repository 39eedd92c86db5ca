import type { Value } from '../../storage/statement.js';
import type { Leaf, SearchCondition } from './condition.js';
import { groupIdArray } from './group-ids.js';

/** Gathers the values of a statement and hands out the numbers they stand under. */
export interface Parameters {
  readonly values: readonly Value[];
  /** `$3::uuid`: the type is always said, because a value alone does not tell it. */
  add(value: Value, type: string): string;
}

export function createParameters(): Parameters {
  const values: Value[] = [];
  return { values, add: (value, type) => `$${values.push(value)}::${type}` };
}

/** What the token called `t` must be. Every value is a parameter; nothing a client wrote becomes part of the text. */
export function conditionSql(condition: SearchCondition, parameters: Parameters): string {
  switch (condition.kind) {
    case 'all':
      return 'true';
    case 'none':
      return 'false';
    case 'and':
    case 'or': {
      const parts = condition.parts.map((part) => conditionSql(part, parameters));
      return `(${parts.join(condition.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      // A column without a value is unlike every value: NOT alone would leave it unknown.
      return `(${leafSql(condition.leaf, parameters)}) IS NOT TRUE`;
    default:
      return leafSql(condition, parameters);
  }
}

function leafSql(leaf: Leaf, parameters: Parameters): string {
  switch (leaf.kind) {
    case 'ids':
      return `t.id = ANY (${parameters.add(leaf.ids, 'text[]')})`;
    case 'idPrefix':
      return `starts_with(t.id, ${parameters.add(leaf.prefix, 'text')})`;
    case 'groups':
      return `t.group_id = ANY (${parameters.add(groupIdArray(leaf.groupIds), 'uuid[]')})`;
    case 'fingerprint':
      return `t.fingerprint = ${parameters.add(leaf.fingerprint, 'bytea')}`;
    case 'term':
      return `position(${parameters.add(leaf.term, 'bytea')} IN t.terms) > 0`;
    case 'createdBy':
      return `t.created_by = ${parameters.add(leaf.id, 'uuid')}`;
    case 'modifiedBy':
      return `t.modified_by = ${parameters.add(leaf.id, 'uuid')}`;
    case 'createdAt':
      return spanSql('t.created_at', leaf, parameters);
    case 'modifiedAt':
      return spanSql('t.modified_at', leaf, parameters);
  }
}

/** An open span still asks for a value: a token that was never modified lies in no range. */
function spanSql(
  column: string,
  { fromMs, beforeMs }: { readonly fromMs: number | undefined; readonly beforeMs: number | undefined },
  parameters: Parameters,
): string {
  const time = (ms: number): string => parameters.add(new Date(ms), 'timestamptz');
  const from = fromMs === undefined ? [] : [`${column} >= ${time(fromMs)}`];
  const before = beforeMs === undefined ? [] : [`${column} < ${time(beforeMs)}`];
  const bounds = [...from, ...before];
  return bounds.length === 0 ? `${column} IS NOT NULL` : `(${bounds.join(' AND ')})`;
}

/** Bytes as PostgreSQL spells them in an array. */
export function bytesList(keys: readonly Buffer[]): string[] {
  return keys.map((key) => `\\x${key.toString('hex')}`);
}
