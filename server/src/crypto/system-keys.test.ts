import assert from 'node:assert/strict';
import { createPublicKey, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import { EXIT, ExitError } from '../kernel/exit.js';
import { generateRootKey, parseRootKey } from './root-key.js';
import { generateSystemKeys, openSystemKeys, SYSTEM_KEY_NAMES, type SystemKeyRow } from './system-keys.js';

const rootKey = parseRootKey(generateRootKey().reveal());

function refusalOf(rows: readonly SystemKeyRow[], key = rootKey): ExitError {
  try {
    openSystemKeys([key], rows);
  } catch (error) {
    assert.ok(error instanceof ExitError);
    return error;
  }
  return assert.fail('the rows were accepted');
}

test('generated system keys are one row for each name and open to keys that differ', () => {
  const rows = generateSystemKeys(rootKey);
  assert.deepEqual(
    rows.map((row) => row.name),
    [...SYSTEM_KEY_NAMES],
  );
  const { auditSigning, ...macKeys } = openSystemKeys([rootKey], rows);
  const bytes = Object.values(macKeys).map((key) => key.export().toString('hex'));
  assert.ok(bytes.every((hex) => hex.length === 64));
  assert.equal(new Set(bytes).size, SYSTEM_KEY_NAMES.length - 1);
  assert.equal(auditSigning.asymmetricKeyType, 'ed25519');
});

test('opened twice, the signing key is the same and signs what its public half verifies', () => {
  const rows = generateSystemKeys(rootKey);
  const message = Buffer.from('checkpoint');
  const signature = sign(null, message, openSystemKeys([rootKey], rows).auditSigning);
  assert.ok(verify(null, message, createPublicKey(openSystemKeys([rootKey], rows).auditSigning), signature));
});

test('rows in another order, or beside an unknown one, open', () => {
  const rows = generateSystemKeys(rootKey);
  openSystemKeys([rootKey], [{ name: 'of-a-later-release', wrapped: Buffer.alloc(0) }, ...rows.toReversed()]);
});

test('a missing system key ends the process with 78 and its name', () => {
  const rows = generateSystemKeys(rootKey);
  for (const name of SYSTEM_KEY_NAMES) {
    const { exitCode, message } = refusalOf(rows.filter((row) => row.name !== name));
    assert.equal(exitCode, EXIT.configuration);
    assert.ok(message.includes(name));
  }
});

test('a damaged system key ends the process with 78 and its name', () => {
  const rows = generateSystemKeys(rootKey);
  for (const name of SYSTEM_KEY_NAMES) {
    const damaged = rows.map((row) => (row.name === name ? { name, wrapped: row.wrapped.subarray(1) } : row));
    const { exitCode, message } = refusalOf(damaged);
    assert.equal(exitCode, EXIT.configuration);
    assert.ok(message.includes(name));
  }
});

test('system keys that swapped their rows end the process with 78', () => {
  const rows: SystemKeyRow[] = generateSystemKeys(rootKey);
  const wrappedOf = (name: string) => rows.find((row) => row.name === name)?.wrapped ?? Buffer.alloc(0);
  const swap: Record<string, string> = { 'row-mac': 'audit-mac', 'audit-mac': 'row-mac' };
  const swapped = rows.map(({ name }) => ({ name, wrapped: wrappedOf(swap[name] ?? name) }));
  assert.equal(refusalOf(swapped).exitCode, EXIT.configuration);
});

test('system keys of another root key end the process with 78', () => {
  const rows = generateSystemKeys(rootKey);
  assert.equal(refusalOf(rows, parseRootKey(generateRootKey().reveal())).exitCode, EXIT.configuration);
});
