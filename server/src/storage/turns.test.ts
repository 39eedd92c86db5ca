import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from './turns.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('work under one name runs one after another in the order it came; other names run meanwhile', async () => {
    const inTurn = createTurns();
    const story: string[] = [];
    const work = (name: string, label: string) =>
      inTurn(name, async () => {
        story.push(`${label} begins`);
        await turn();
        story.push(`${label} ends`);
        return label;
      });
    const answers = await Promise.all([work('a', 'a1'), work('a', 'a2'), work('b', 'b1')]);
    assert.deepEqual(answers, ['a1', 'a2', 'b1']);
    assert.deepEqual(
      story.filter((line) => line.startsWith('a')),
      ['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends'],
    );
    assert.ok(story.indexOf('b1 begins') < story.indexOf('a2 begins'));
  });

  it('a failure is its own: whoever waits behind it runs, and a later one too', async () => {
    const inTurn = createTurns();
    const outcomes = await Promise.allSettled([
      inTurn('a', () => Promise.reject(new Error('mine'))),
      inTurn('a', async () => 'fine'),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
    assert.equal(await inTurn('a', async () => 'later'), 'later');
  });
});
