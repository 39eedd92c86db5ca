import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Credential } from '../../../access/credential.js';
import { newId } from '../../../kernel/ids.js';
import { eventually } from '../../../testing/eventually.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import { CALLER } from '../../../testing/route-server.js';
import type { KeyUse } from './queries.js';
import type { KeyUses, KeyUsesOptions } from './uses.js';
import { createKeyUses, USES_PENDING_MAX } from './uses.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const HOUR_MS = 3_600_000;

const fail = (error: unknown) => assert.fail(String(error));

/** Without a key it is that of a session. */
function credentialOf(keyId: string | undefined): Credential {
  const { tenantId, applicationId, permissions, grants } = CALLER;
  const actor = { type: 'session', id: newId() } as const;
  const session = { kind: 'session', tenantId, applicationId, permissions, grants, actor, isAuthorized: true } as const;
  const principal = keyId === undefined ? session : { ...CALLER, keyId };
  return { principal, expiresAtMs: Infinity, usedHour: 0, usedRound: 0 };
}

/** Uses the key until its use is looked at again. */
async function nextRound(uses: KeyUses, credential: Credential): Promise<void> {
  const { usedRound } = credential;
  await eventually('another round', () => {
    uses.note(credential);
    return credential.usedRound > usedRound;
  });
}

describe('the uses of keys', () => {
  const opened: KeyUses[] = [];
  after(() => Promise.all(opened.map((uses) => uses.close())));

  function keep(write: KeyUsesOptions['write'], onFault: KeyUsesOptions['onFault'] = fail) {
    const clock = createFakeClock(NOON_MS + 125);
    const uses = createKeyUses({ clock, write, onFault, roundMs: 1, retryMs: 0 });
    opened.push(uses);
    return { clock, uses };
  }

  /** Keeps what was written, batch by batch. */
  function written() {
    const batches: (readonly KeyUse[])[] = [];
    return { batches, write: async (batch: readonly KeyUse[]) => void batches.push(batch) };
  }

  it('are written once an hour for each key, to the hour, however often it is used and remembered anew', async () => {
    const { batches, write } = written();
    const { clock, uses } = keep(write);
    const [one, other] = [newId(), newId()];
    const credential = credentialOf(one);
    for (let use = 0; use < 1_000; use += 1) uses.note(credential);
    uses.note(credentialOf(other));
    await eventually('the first hour is written', () => batches.length === 1);
    const { tenantId, applicationId } = CALLER;
    const use = { tenantId, applicationId, usedAtMs: NOON_MS };
    assert.deepEqual(batches[0], [
      { ...use, keyId: one },
      { ...use, keyId: other },
    ]);
    clock.advance(HOUR_MS - 126);
    await nextRound(uses, credential);
    assert.equal(batches.length, 1, 'the hour is still the same');
    clock.advance(1);
    await nextRound(uses, credential);
    await eventually('the next hour is written', () => batches.length === 2);
    assert.deepEqual(batches[1], [{ ...use, keyId: one, usedAtMs: NOON_MS + HOUR_MS }]);
    clock.jumpTo(NOON_MS);
    await nextRound(uses, credential);
    await uses.close();
    assert.equal(batches.length, 2, 'a clock that is put back writes nothing');
  });

  it('are not written again where the stored hour is this one, nor for a session', async () => {
    const { batches, write } = written();
    const { uses } = keep(write);
    uses.note({ ...credentialOf(newId()), usedHour: NOON_MS / HOUR_MS });
    uses.note(credentialOf(undefined));
    await uses.close();
    assert.deepEqual(batches, []);
  });

  it('are kept while they cannot be written, and newer ones with them', async () => {
    const { batches, write } = written();
    const faults: unknown[] = [];
    let isOut = true;
    const { clock, uses } = keep(
      (batch) => (isOut ? Promise.reject(new Error('out of reach')) : write(batch)),
      (error) => faults.push(error),
    );
    const [one, other] = [newId(), newId()];
    const credential = credentialOf(one);
    uses.note(credential);
    uses.note(credentialOf(other));
    await eventually('it was tried twice', () => faults.length >= 2);
    clock.advance(HOUR_MS);
    await nextRound(uses, credential);
    isOut = false;
    await eventually('both are written', () => batches.flat().length === 2);
    const hours = new Map(batches.flat().map(({ keyId, usedAtMs }) => [keyId, usedAtMs]));
    assert.deepEqual([hours.get(one), hours.get(other)], [NOON_MS + HOUR_MS, NOON_MS]);
  });

  it('are written by a stop, which ends also where they cannot be', async () => {
    const { batches, write } = written();
    const { uses } = keep(write);
    uses.note(credentialOf(newId()));
    await uses.close();
    assert.equal(batches.flat().length, 1);
    const faults: unknown[] = [];
    const failing = keep(
      () => Promise.reject(new Error('out of reach')),
      (error) => faults.push(error),
    );
    failing.uses.note(credentialOf(newId()));
    await failing.uses.close();
    assert.equal(faults.length, 1);
  });

  it('are bounded: what is too much is left for a later use of the key', async () => {
    const { batches, write } = written();
    const { uses } = keep(write);
    const credentials = Array.from({ length: USES_PENDING_MAX + 1 }, () => credentialOf(newId()));
    for (const credential of credentials) uses.note(credential);
    const last = credentials.at(-1);
    assert.ok(last);
    await eventually('all that had a place are written', () => batches.flat().length === USES_PENDING_MAX);
    uses.note(last);
    await uses.close();
    assert.ok(last.principal.kind === 'application');
    assert.equal(batches.flat().at(-1)?.keyId, last.principal.keyId);
    assert.ok(batches.every((batch) => batch.length <= 64));
  });
});
