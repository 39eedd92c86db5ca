import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import { placeText, readPlace } from './place.js';
import { laterOf, readSnapshot, sees } from './snapshot.js';

const AT_MS = 1_700_000_000_000;

function snapshot(text: string) {
  return readSnapshot(text, AT_MS) ?? assert.fail(text);
}

describe('snapshots of the database', () => {
  it('see what had ended: below the first that runs, and between those that run', () => {
    const one = snapshot('10:20:10,15');
    const seen = [9n, 10n, 11n, 15n, 19n, 20n, 21n].filter((xid) => sees(one, xid));
    assert.deepEqual(seen, [9n, 11n, 19n]);
  });

  it('are in order by their end, and where that is the same by what still runs', () => {
    const [first, second, third] = [snapshot('10:20:10,15'), snapshot('15:20:15'), snapshot('15:21:15,20')];
    assert.equal(laterOf(first, second), second);
    assert.equal(laterOf(third, second), third);
  });

  it('are not read from anything else', () => {
    const texts = [
      '',
      '1',
      '1:2',
      'a:2:',
      '5:2:',
      '0:2:',
      '1:5:9',
      '1:5:3,2',
      '1:5:2,2',
      '1:5:2,',
      `1:${2n ** 63n}:`,
      '-1:5:',
    ];
    for (const text of texts) assert.equal(readSnapshot(text, AT_MS), undefined, text);
  });
});

describe('the id of an event', () => {
  it('reads as what it was written from', () => {
    const [since, until] = [snapshot('10:20:10,15'), snapshot('15:21:15,20')];
    for (const place of [{ since }, { since, step: { until, atMs: AT_MS, id: newId() } }]) {
      assert.deepEqual(readPlace(placeText(place)), place);
    }
  });

  it('fits into a header with a hundred transactions under way', () => {
    const running = Array.from({ length: 100 }, (_, n) => 4_000_000_000 + n * 2).join(',');
    const since = snapshot(`4000000000:4000000999:${running}`);
    const text = placeText({ since, step: { until: since, atMs: AT_MS, id: newId() } });
    assert.ok(text.length < 4_000, String(text.length));
    assert.ok(readPlace(text));
  });

  it('is refused where any part is missing or something else', () => {
    const [good, at, id] = ['10:20:', String(AT_MS), newId()];
    const texts = [
      ...[good, `${good} `, `${good} x`, `${good} ${at} ${good}`, `${good} ${at} ${good} ${at} ${at}`],
      ...[`${good} ${at} ${good} ${at} ${at} x`, `${good} ${at} x ${at} ${at} ${id}`, `${good} 99999999999999`],
      `${good} ${at} ${good} ${at} ${at} ${id} x`,
    ];
    for (const text of texts) assert.equal(readPlace(Buffer.from(text).toString('base64url')), undefined, text);
    for (const text of ['', 'ä', 'a b', 'a'.repeat(12_001)]) assert.equal(readPlace(text), undefined, text);
  });
});
