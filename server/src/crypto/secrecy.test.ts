import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '../kernel/secret.js';
import { openRecord } from './aead.js';
import { createCustody } from './custody.js';
import { openField, sealField } from './envelope.js';
import { Keyring } from './keyring.js';
import { makeRootCheck, verifyRootCheck } from './root-check.js';
import { generateRootKey, parseRootKey } from './root-key.js';
import { loadRootKey } from './root-key-custody.js';
import { formatRootKeyRing, parseRootKeyRing } from './root-key-ring.js';
import { generateSystemKeys, openSystemKeys } from './system-keys.js';
import { generateTenantKeys, openTenantKeys } from './tenant-keys.js';
import { unwrapKey } from './wrap.js';

const text = generateRootKey().reveal();
const rootKey = parseRootKey(text);
const custody = createCustody({ ring: [rootKey], file: undefined });
const systemRows = generateSystemKeys(rootKey);
const tenantRows = generateTenantKeys(rootKey, 't');
const systemKeys = openSystemKeys([rootKey], systemRows);
const tenantKeys = openTenantKeys([rootKey], 't', tenantRows);
const place = { tenantId: 't', kind: 'token', entityId: 'e', field: 'data', dataVersion: 1 };
const plaintext = Buffer.from('plaintext of a cardholder');
const record = sealField(tenantKeys, place, plaintext);
const { auditSigning, ...systemSecrets } = systemKeys;
const secretBytes = [
  plaintext,
  rootKey.key.export(),
  tenantKeys.fingerprint.export(),
  tenantKeys.index.export(),
  ...[...tenantKeys.encryption.byVersion.values()].map((key) => key.export()),
  ...Object.values(systemSecrets).map((key) => key.export()),
  auditSigning.export({ type: 'pkcs8', format: 'der' }).subarray(16),
];

/** The first bytes are enough: a message that held a part of a key would be as wrong. */
function assertShowsNothing(value: unknown): void {
  const shown = [inspect(value, { depth: null, showHidden: true }), JSON.stringify(value) ?? '', String(value)].join();
  for (const secret of secretBytes) {
    for (const encoding of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      assert.ok(!shown.includes(secret.toString(encoding).slice(0, 10)));
    }
    assert.ok(!shown.includes(inspect(secret).slice(8, 22)));
    assert.ok(!shown.includes(JSON.stringify([...secret.subarray(0, 4)]).slice(1, -1)));
  }
  assert.ok(!shown.includes(text.slice(4, 14)) && !shown.includes(text.slice(-8)));
}

async function failureOf(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return assert.fail('it did not fail');
}

test('printed or serialised in any way, an object that holds keys shows none of them', () => {
  const keyring = new Keyring({ custody, entriesMax: 1, loadRows: async () => tenantRows });
  for (const value of [
    rootKey,
    custody,
    formatRootKeyRing([rootKey]),
    systemKeys,
    tenantKeys,
    keyring,
    generateRootKey(),
    new Secret(text),
  ]) {
    assertShowsNothing(value);
  }
});

test('the check for secrets notices one that is shown', () => {
  assert.throws(() => assertShowsNothing({ plaintext }));
  assert.throws(() => assertShowsNothing(new Error(text)));
  assert.throws(() => assertShowsNothing(rootKey.key.export().toString('base64')));
});

test('a failure of any function holds neither key nor plaintext, in its message, stack or cause', async () => {
  const other = parseRootKey(generateRootKey().reveal());
  const damaged = Buffer.concat([record, Buffer.from([0])]);
  const swapped = tenantRows.map((row) => ({ ...row, version: row.version + 1 }));
  const given = { isProduction: true, databaseHoldsData: true };
  const acts: (() => unknown)[] = [
    () => openField(tenantKeys, place, damaged),
    () => openField(tenantKeys, { ...place, entityId: 'f' }, record),
    () => openField(tenantKeys, { ...place, tenantId: 'u' }, record),
    () => openField(tenantKeys, place, plaintext),
    () => sealField(tenantKeys, { ...place, dataVersion: -1 }, plaintext),
    () => sealField(tenantKeys, { ...place, kind: '' }, plaintext),
    () => openRecord(createSecretKey(rootKey.key.export().subarray(1)), record, Buffer.from('x')),
    () => unwrapKey(other, { scope: 'system', name: 'row-mac', version: 1 }, record),
    () => openSystemKeys([other], systemRows),
    () => openSystemKeys([rootKey], []),
    () => openTenantKeys([rootKey], 't', swapped),
    () => verifyRootCheck([other], makeRootCheck(rootKey)),
    () => verifyRootCheck([rootKey], { rootKeyId: rootKey.id, sealed: damaged }),
    () => parseRootKey(`${text}x`),
    () => parseRootKeyRing(`${text},${text}`),
    () => parseRootKeyRing(`${text}\n${text}x`),
    () => parseRootKey(text.replace('rk1_', 'rk2_')),
    () => parseRootKey(text.replace(/.$/, 'x')),
    () => loadRootKey({ ...given, value: new Secret(`${text}x`) }),
    () => loadRootKey({ ...given, value: new Secret(text), file: '/nowhere' }),
    () => new Keyring({ custody, entriesMax: 1, loadRows: async () => swapped }).forTenant('t'),
  ];
  for (const act of acts) assertShowsNothing(await failureOf(act));
});
