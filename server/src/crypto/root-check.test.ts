import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT, ExitError } from '../kernel/exit.js';
import { makeRootCheck, type RootCheck, verifyRootCheck } from './root-check.js';
import { generateRootKey, parseRootKey } from './root-key.js';

const rootKey = parseRootKey(generateRootKey().reveal());
const other = parseRootKey(generateRootKey().reveal());

function refusalOf(row: RootCheck, key = rootKey): ExitError {
  try {
    verifyRootCheck([key], row);
  } catch (error) {
    assert.ok(error instanceof ExitError);
    return error;
  }
  return assert.fail('the check row was accepted');
}

test('the key that made the check row is accepted', () => {
  const row = makeRootCheck(rootKey);
  assert.equal(row.rootKeyId, rootKey.id);
  verifyRootCheck([rootKey], row);
});

test('another key ends the process with 78 and both ids, and says that nothing was changed', () => {
  const { exitCode, message } = refusalOf(makeRootCheck(rootKey), other);
  assert.equal(exitCode, EXIT.configuration);
  assert.ok(message.includes(rootKey.id) && message.includes(other.id));
  assert.match(message, /Nothing was changed/);
});

test('a row that claims this key but was sealed by another ends the process with 78', () => {
  const { exitCode, message } = refusalOf({ rootKeyId: rootKey.id, sealed: makeRootCheck(other).sealed });
  assert.equal(exitCode, EXIT.configuration);
  assert.match(message, /does not open.*damaged/);
});

test('a damaged, cut or empty check value ends the process with 78', () => {
  const { rootKeyId, sealed } = makeRootCheck(rootKey);
  const flipped = Buffer.from(sealed);
  flipped.writeUInt8(flipped.readUInt8(30) ^ 1, 30);
  for (const damaged of [flipped, sealed.subarray(0, 20), Buffer.alloc(0)]) {
    assert.equal(refusalOf({ rootKeyId, sealed: damaged }).exitCode, EXIT.configuration);
  }
});
