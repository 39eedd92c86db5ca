import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { createSystemSeal } from './system-seal.js';

const parent = createSecretKey(Buffer.alloc(32, 5));
const place = { kind: 'mail', entityId: 'e', field: 'content', dataVersion: 1 };
const seal = createSystemSeal(parent, 'label/1');

describe('the seal of the installation', () => {
  it('opens what it sealed for the same place', () => {
    const record = seal.seal(place, Buffer.from('a secret link'));
    assert.ok(!record.includes('secret'));
    assert.equal(createSystemSeal(parent, 'label/1').open(place, record).toString(), 'a secret link');
  });

  it('opens nothing that was changed, moved, or sealed under another label or key', () => {
    const record = seal.seal(place, Buffer.from('a secret link'));
    const flipped = Buffer.from(record);
    flipped[25] = (flipped[25] ?? 0) ^ 1;
    const others = [
      () => seal.open(place, flipped),
      () => seal.open({ ...place, entityId: 'f' }, record),
      () => seal.open({ ...place, kind: 'factor' }, record),
      () => seal.open({ ...place, field: 'other' }, record),
      () => seal.open({ ...place, dataVersion: 2 }, record),
      () => createSystemSeal(parent, 'label/2').open(place, record),
      () => createSystemSeal(createSecretKey(Buffer.alloc(32, 6)), 'label/1').open(place, record),
    ];
    for (const open of others) assert.throws(open, { name: 'IntegrityError' });
  });
});
