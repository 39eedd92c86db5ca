import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bag } from './bag.js';

test('a bag has those that came and did not leave, whoever leaves first', () => {
  const bag = new Bag<number>();
  const expected = new Map<number, ReturnType<Bag<number>['add']>>();
  // A fixed walk through many orders of coming and going.
  for (let step = 0; step < 2_000; step += 1) {
    const isLeaving = (step * 7_919) % 5 > 1 && expected.size > 0;
    if (isLeaving) {
      const [number, placed] = [...expected][(step * 104_729) % expected.size] ?? assert.fail();
      assert.equal(bag.remove(placed), true);
      expected.delete(number);
    } else expected.set(step, bag.add(step));
    assert.equal(bag.size, expected.size);
    assert.deepEqual(
      bag.members().sort((a, b) => a - b),
      [...expected.keys()].sort((a, b) => a - b),
    );
  }
});

test('who left leaves no second time, and takes nobody along', () => {
  const bag = new Bag<string>();
  const first = bag.add('first');
  bag.add('second');
  assert.equal(bag.remove(first), true);
  assert.equal(bag.remove(first), false);
  assert.deepEqual(bag.members(), ['second']);
});

test('what comes or goes while members are gone through changes nothing of what is gone through', () => {
  const bag = new Bag<string>();
  const placed = ['a', 'b', 'c'].map((member) => bag.add(member));
  const seen: string[] = [];
  for (const member of bag.members()) {
    seen.push(member);
    for (const each of placed) bag.remove(each);
    bag.add('late');
  }
  assert.deepEqual(seen, ['a', 'b', 'c']);
});
