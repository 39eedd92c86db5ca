// needs: engine

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findEngine } from '@strongroom/engine/paths.js';
import { generateRootKey } from '../crypto/root-key.js';
import { HOUR_MS } from '../jobs/job-record.js';
import type { TestVault } from '../resources/tokens/vault-fixture.js';
import { cardNumber, NOON_MS, pathOf, vaultOf } from '../resources/tokens/vault-fixture.js';
import { lastFirst, startFor, temporaryFolder } from '../storage/embedded/embedded-fixture.js';
import { migrate } from '../storage/migrate.js';
import { foundIn } from './canary-forms.js';
import { connectAs } from './empty-database.js';
import { everyRow } from './every-row.js';
import { createFakeClock } from './fake-clock.js';
import { startTestApp } from './test-app.js';

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('');
const word = (name: string) => `canary-${name}-${digits(12)}`;

/** What must be nowhere but in answers. Long enough not to occur by chance. */
function plant() {
  const ssn = `${digits(3)}-${digits(2)}-${digits(4)}`;
  return {
    card: cardNumber(randomInt(1e12, 1e13)),
    patchedCard: cardNumber(randomInt(1e12, 1e13)),
    wrongCard: digits(18),
    account: digits(17),
    code: `"cvc":"${digits(4)}"`,
    ssn,
    ssnDigits: ssn.replaceAll('-', ''),
    data: word('data'),
    number: `1${digits(14)}`,
    bare: word('bare'),
    metadata: word('metadata'),
    metadataKey: word('key'),
    mask: word('mask'),
    index: word('index'),
    encryption: word('encryption'),
    kept: word('kept'),
    query: word('query'),
    failing: word('failing'),
    replacement: word('replacement'),
    source: word('source'),
    setting: word('setting'),
    argument: word('argument'),
    result: word('result'),
    printed: word('printed'),
  };
}

type Canaries = ReturnType<typeof plant>;

/** Uses every endpoint with canaries in every place of a body, and gives all answers that were errors. */
async function spread(vault: TestVault, canaries: Canaries): Promise<string[]> {
  const errors: string[] = [];
  const send = async (method: string, path: string, body?: unknown, key?: string) => {
    const headers = key === undefined ? {} : { headers: { 'SVC-IDEMPOTENCY-KEY': key } };
    const answer = await vault.send(method, path, body, headers);
    if (answer.status >= 400) errors.push(`${answer.status} ${answer.text} ${JSON.stringify([...answer.headers])}`);
    return answer;
  };
  const { json: card } = await send('POST', '/tokens', {
    type: 'card',
    data: { number: canaries.card, cvc: canaries.code.slice(7, -1), note: canaries.data },
    mask: { text: canaries.mask },
    metadata: { [canaries.metadataKey]: canaries.metadata },
    search_indexes: [`{{ data.number }}${canaries.index}`],
    fingerprint_expression: `{{ data.number }}${canaries.index}`,
    encryption: { note: canaries.encryption },
  });
  await send('POST', '/tokens', { data: [canaries.kept, Number(canaries.number)] }, 'kept-answer');
  await send('POST', '/tokens', { type: 'social_security_number', data: canaries.ssn });
  await send('POST', '/tokenize', { a: canaries.bare, b: { type: 'us_bank_account_number', data: canaries.account } });
  await send('PATCH', pathOf(card.id), {
    data: { number: canaries.patchedCard },
    metadata: { x: canaries.replacement },
  });
  await send('POST', '/tokens/search', { query: `data:${canaries.ssn} OR data:"${canaries.query}"` }, 'kept-search');
  await send('GET', `/tokens?metadata.x=${canaries.replacement}&metadata.${canaries.metadataKey}=${canaries.metadata}`);
  await send('GET', '/v2/tokens');
  await send('POST', '/detokenize', { a: `{{ ${card.id} }}`, b: canaries.bare }, 'kept-values');
  await send('HEAD', pathOf(card.id));
  const { failing, wrongCard, ssn } = canaries;
  const bad: [string, string, unknown][] = [
    ['POST', '/tokens', { type: 'card', data: { number: wrongCard, cvc: failing } }],
    ['POST', '/tokens', { type: failing, data: failing }],
    [
      'POST',
      '/tokens',
      { data: failing, containers: [failing], expires_at: failing, privacy: { classification: failing } },
    ],
    ['POST', '/tokens', { data: failing, search_indexes: ['{{ data | nofilter }}'], metadata: { a: [failing] } }],
    ['POST', '/tokens', { data: failing, id: '{{ data | times: "x" | json: "$[" }}' }],
    ['POST', '/tokens', { data: failing, fingerprint_expression: '{{ data | to_number }}' }],
    [
      'POST',
      '/tokenize',
      [
        { type: 'social_security_number', data: `${ssn}1` },
        { type: 'bank', data: failing },
      ],
    ],
    ['PATCH', pathOf(card.id), { data: { number: wrongCard, expiration_month: failing } }],
    ['POST', '/detokenize', [`{{ ${card.id} | to_number }}`, failing]],
    ['POST', '/tokens/search', { query: `data:"${failing}" ${failing}` }],
    ['GET', `/tokens?metadata=${failing}&size=${failing}`, undefined],
  ];
  for (const [method, path, body] of bad) await send(method, path, body);
  assert.equal(errors.length, bad.length, 'each of them is refused');
  await vault.app.db.owner.query('ALTER TABLE token_terms ADD CONSTRAINT nothing_fits CHECK (false) NOT VALID');
  await send('POST', '/tokens', { data: failing, metadata: { a: failing } }, 'failing').finally(() =>
    vault.app.db.owner.query('ALTER TABLE token_terms DROP CONSTRAINT nothing_fits'),
  );
  assert.match(errors.at(-1) ?? '', /^500/);
  await send('DELETE', pathOf(card.id));
  return errors;
}

/** Has code run that holds canaries, is given some, prints and returns some. What it throws is its caller's alone. */
async function spreadCode({ app, tenant, keyWith, make }: TestVault, canaries: Canaries): Promise<void> {
  const { source, setting, argument, result, printed } = canaries;
  const caller = await keyWith([], ['token:use', 'token:create']);
  const { id: card } = await make({ type: 'card_number', data: canaries.card });
  const returns = `{ raw: ['${result}', req.args], tokenize: { a: '${result}' } }`;
  const code = `/* ${source} */ module.exports = async (req) => { console.log('${printed}', req); if (req.args.fails) throw new Error('${result}'); return ${returns}; };`;
  const body = { name: 'Canaries', code, configuration: { SETTING: setting } };
  const made = await app.call('POST', '/reactors', { key: tenant.key, body });
  const path = `/reactors/${made.json.id}`;
  const react = (args: object, key?: string) =>
    app.call('POST', `${path}/react`, {
      ...{ key: caller, body: { args } },
      ...(key !== undefined && { headers: { 'SVC-IDEMPOTENCY-KEY': key } }),
    });
  const ran = await react({ argument, card: `{{ ${card} }}` }, 'kept-run');
  assert.deepEqual(ran.json.raw, [result, { argument, card: canaries.card }]);
  assert.equal((await react({ argument, fails: true })).status, 500);
  const tried = await app.call('POST', `${path}/test`, { key: tenant.key, body: { args: { argument } } });
  assert.ok(tried.text.includes(printed));
  assert.equal((await app.call('PATCH', path, { key: tenant.key, body: { code: `${code} ` } })).status, 204);
}

/** Makes and changes a Proxy that says canaries, and tells the keys it had. */
async function spreadProxy({ app, tenant }: TestVault, { source, setting, result }: Canaries) {
  const call = (method: string, path: string, body?: object) =>
    app.call(method, path, {
      ...{ key: tenant.key, headers: { 'SVC-IDEMPOTENCY-KEY': `proxy-${method}` } },
      ...(body && { body }),
    });
  const said = { destination_url: `https://a.example/${source}`, request_transform: { code: source } };
  const made = await call('POST', '/proxies', { name: 'Canaries', ...said, configuration: { SETTING: setting } });
  assert.equal(made.status, 201, made.text);
  const path = `/proxies/${made.json.id}`;
  assert.equal((await call('PATCH', path, { response_transform: { code: result } })).status, 204);
  const renewed = await call('POST', `${path}/regenerate`);
  assert.equal((await call('GET', path)).json.key, renewed.json.key);
  return { proxyKey: String(made.json.key), nextProxyKey: String(renewed.json.key) };
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test('no canary in tables, data files, write-ahead log, process log, server log, metrics or errors; a plain value is found', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const serverLines: string[] = [];
  const server = await startFor(defer, dataDir, { log: (line) => serverLines.push(line) });
  const { socketDir, port, database } = server;
  const ownerTarget = { socketDir, port, database, user: server.ownerRole };
  await migrate({ owner: ownerTarget, login: 'strongroom', createLogin: true });
  const owner = await connectAs(ownerTarget);
  defer(() => owner.end());
  const db = { target: { ...ownerTarget, user: 'strongroom' }, ownerTarget, owner, drop: async () => {} };
  const clock = createFakeClock(NOON_MS);
  const app = await startTestApp({ clock, beside: { db, rootKey: generateRootKey() } });
  defer(() => app.close());
  const vault = await vaultOf(app, clock);
  const control = { plain: word('control') };
  const named = await app.call('PUT', '/tenants/self', { key: vault.tenant.key, body: { name: control.plain } });
  assert.equal(named.status, 200);

  const planted = plant();
  const errors = await spread(vault, planted);
  if (findEngine() !== undefined) await spreadCode(vault, planted);
  const canaries = { ...planted, ...(await spreadProxy(vault, planted)) };
  const trace = word('trace');
  await vault.send('GET', '/tokens', undefined, { headers: { 'SVC-TRACE-ID': trace } });

  const places: Record<string, string> = {
    'process log': app.logLines.join(''),
    'server log': serverLines.join('\n'),
    metrics: app.metrics.render(),
    errors: errors.join('\n'),
    tables: JSON.stringify(await everyRow(app)),
  };
  for (const [place, text] of Object.entries(places)) assert.deepEqual(foundIn(text, canaries), [], place);
  assert.deepEqual(foundIn(places['process log'] ?? '', { trace }), ['trace']);
  assert.match(places.metrics ?? '', /\/tokens/);
  assert.deepEqual(foundIn(places.tables ?? '', control), ['plain']);

  await owner.query('SELECT pg_switch_wal()');
  await owner.query('CHECKPOINT');
  const files = await filesUnder(dataDir);
  const seen = { wal: 0, base: 0 };
  for (const file of files) {
    const bytes = await readFile(file);
    assert.deepEqual(foundIn(bytes, canaries), [], file);
    if (foundIn(bytes, control).length === 0) continue;
    if (file.includes('pg_wal')) seen.wal += 1;
    if (file.includes('/base/')) seen.base += 1;
  }
  assert.ok(seen.wal > 0 && seen.base > 0, `the plain value is in the files: ${JSON.stringify(seen)}`);

  clock.advance(HOUR_MS);
  const kept = await vault.send('POST', '/tokens', {}, { headers: { 'SVC-IDEMPOTENCY-KEY': 'kept-answer' } });
  assert.ok(kept.text.includes(canaries.kept), 'what was kept for a repetition was there all along');
});
