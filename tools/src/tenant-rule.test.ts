import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { globFiles } from './files.js';
import { isTest, readSources } from './sources.js';
import type { FoundStatement } from './statements.js';
import { STATEMENT_CALL, statementsOf } from './statements.js';

const DUE =
  'looks for tenants that have something due, and tells nothing but their ids; the work is done tenant by tenant';
const BY_CREDENTIAL = 'a credential is looked for by its keyed hash, and tells whose it is';
const OF_USER = 'of a user who is signed in: tells whose member it is; the MAC of each row is checked';
const OF_OPERATOR = 'of the operator, who keeps all tenants';
const GIVEN = 'put together of columns that are given, of which the first is asserted to be the tenant';
const BUILT = 'put together from parts; the isolation walk takes its condition away and must notice (`widened`)';

/** Statements on tenant data that do not name their tenant in the text that stands there, and why that is right. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'access/queries.ts': BY_CREDENTIAL,
  'resources/proxies/queries.ts': BY_CREDENTIAL,
  find_in_credential_directory: BY_CREDENTIAL,
  find_invitation_by_secret: BY_CREDENTIAL,
  list_tenants_with_due_answers: DUE,
  list_tenants_with_due_keys: DUE,
  list_tenants_with_due_applications: DUE,
  list_tenants_with_due_sessions: DUE,
  list_tenants_with_due_visits: DUE,
  list_memberships: OF_USER,
  list_owned_tenants: OF_USER,
  find_any_membership: 'whether a user who is to be removed is a member anywhere',
  oldName: DUE,
  list_tenants_with_due_requests: DUE,
  list_tenants_with_old_log_counts: DUE,
  list_tenants_with_old_requests: DUE,
  'find_tenants_by_${column}': DUE,
  list_tenants: OF_OPERATOR,
  count_tenants_of_users: OF_OPERATOR,
  list_deleted_tenants: OF_OPERATOR,
  list_tenants_to_purge: OF_OPERATOR,
  list_purged_tenants: OF_OPERATOR,
  'storage/backup/catalogue.ts': OF_OPERATOR,
  'storage/backup/row-count.ts': OF_OPERATOR,
  'storage/distribution/examine-cluster.ts': OF_OPERATOR,
  name: GIVEN,
  'storage/given.ts': GIVEN,
  'list_logs_${letters}': BUILT,
  'count_logs_${letters}': BUILT,
  'count_logs_by_kind_${shape}': BUILT,
  'resources/logs/filters/kind-queries.ts': BUILT,
  "nameOf('find_tokens', parts, plan)": BUILT,
  "nameOf('count_tokens', parts, plan)": BUILT,
};

describe('every statement on tenant data names its tenant', () => {
  let found: FoundStatement[];
  let tables: string[];
  before(async () => {
    const product = (await readSources()).filter(({ path }) => !isTest(path));
    found = product.flatMap(statementsOf);
    tables = await tablesOfTenants();
  });

  it('all of them are looked at: each call, and each text that is SQL', async () => {
    const calls = (await readSources())
      .filter(({ path }) => !isTest(path))
      .flatMap(({ text }) => [...text.matchAll(new RegExp(`(?<!function )${STATEMENT_CALL.source}`, 'g'))]);
    // One that has a text for each kind of database is told twice.
    assert.ok(found.filter(({ name }) => name !== '').length >= calls.length);
    assert.ok(calls.length > 100, 'the statements were found');
    assert.ok(tables.length > 10, 'the tables were found');
  });

  it('by a condition for each table it reads, and a column for each row it writes', () => {
    const wrong = found.filter((each) => !isBound(each.sql, tables) && !isExcepted(each));
    assert.deepEqual(
      wrong.map(({ path, name, sql }) => `${path}: ${name || sql.slice(0, 80)}`),
      [],
    );
  });

  it('and no exception is left over', () => {
    const needed = new Set(
      found.filter(({ sql }) => !isBound(sql, tables)).flatMap(({ name, path }) => [name, ...(name ? [] : [path])]),
    );
    assert.deepEqual(
      Object.keys(EXCEPTIONS).filter((name) => !needed.has(name)),
      [],
    );
  });

  it('a statement that forgets it is found', () => {
    const wrong = [
      'SELECT id FROM tokens WHERE id = $2',
      'SELECT t.id FROM tokens AS t JOIN token_terms AS m ON m.tie = t.tie WHERE t.tenant_id = $1',
      'UPDATE sessions SET mac = $2 WHERE id = $1',
      'INSERT INTO logs (id, message) VALUES ($1, $2)',
      'SELECT name FROM tenants WHERE deleted_at IS NULL',
      'text',
      'select id from tokens where id = $1',
      'SELECT id FROM public.tokens WHERE id = $1',
      'SELECT id FROM ONLY tokens WHERE id = $1',
      'SELECT t.id FROM token_terms m, tokens t WHERE t.tenant_id = $1 AND t.id = $2',
      'DELETE FROM tokens AS t WHERE t.tenant_id = t.tenant_id',
      'SELECT id FROM tokens WHERE tenant_id = $1 OR id = $2',
      'SELECT id FROM tokens WHERE (tenant_id = $1) OR true',
      'SELECT id FROM tokens WHERE NOT tenant_id = $1',
      'SELECT id FROM tokens WHERE NOT (tenant_id = $1)',
      'TRUNCATE tokens',
    ];
    for (const sql of wrong) assert.equal(isBound(sql, tables), false, sql);
    const right = [
      'SELECT id FROM tokens WHERE tenant_id = $1 AND id = $2',
      'INSERT INTO logs (tenant_id, id) VALUES ($1, $2)',
      'SELECT name FROM tenants WHERE id = $1',
      'SELECT id FROM users WHERE id = $1',
      'SELECT id FROM tokens WHERE tenant_id = $1 AND (id = $2 OR tie = $3)',
      'SELECT tokens.id FROM tokens WHERE tokens.tenant_id = $1',
    ];
    for (const sql of right) assert.equal(isBound(sql, tables), true, sql);
  });
});

function isExcepted({ name, path }: FoundStatement): boolean {
  return EXCEPTIONS[name || path] !== undefined;
}

/** A text that is not there to be read may be about anything. */
function isBound(sql: string, tables: readonly string[]): boolean {
  if (!/\s/.test(sql) || /\bTRUNCATE\b|\bNOT\s+\(?(?:\w+\.)?tenant_id\b/i.test(sql) || isAlternative(sql)) return false;
  const table = `(?:\\w+\\.)?"?(?:${tables.join('|')}|\\$\\{\\w+\\})(?!\\w)`;
  const count = (pattern: string) => [...sql.matchAll(new RegExp(pattern, 'gi'))].length;
  // The first of a list, and the others behind a comma, with or without another name.
  const read =
    count(`\\b(?:FROM|JOIN|UPDATE|USING)\\s+(?:ONLY\\s+)?${table}`) +
    count(`\\bFROM\\s(?:(?!\\b(?:WHERE|SELECT|SET|ON|ORDER)\\b)[^()])*,\\s*(?:ONLY\\s+)?${table}`);
  const written = count(`\\bINTO\\s+${table}`);
  const ofTenants = count('\\b(?:FROM|JOIN|UPDATE)\\s+tenants\\b');
  return (
    read <= count('(?:(\\w+)\\.|(?<![\\w.]))tenant_id = (?:\\$\\d+|(?!\\1\\.)\\w+\\.tenant_id)') &&
    written <= count('\\bINTO \\S+ \\([^)]*\\btenant_id\\b') &&
    ofTenants <= count('\\bid = (?:\\$1(?!\\d)|\\w+\\.tenant_id)')
  );
}

/** Outside all brackets one side of an OR is enough, whatever the other says. */
function isAlternative(sql: string): boolean {
  let outside = sql;
  for (let before = ''; before !== outside; ) {
    before = outside;
    outside = outside.replaceAll(/\([^()]*\)/g, ' ');
  }
  return /\bOR\b(?!\s+REPLACE)/i.test(outside);
}

/** Every table that a migration makes with a column `tenant_id`. */
async function tablesOfTenants(): Promise<string[]> {
  const files = await globFiles(['server/migrations'], '.sql');
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.flatMap((text) =>
    [...text.matchAll(/CREATE TABLE (\w+) \(([\s\S]*?)\n\)/g)]
      .filter(([, , columns = '']) => /^\s*tenant_id\b/m.test(columns))
      .map(([, name = '']) => name),
  );
}
