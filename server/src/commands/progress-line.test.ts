import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import { createProgressLine } from './progress-line.js';

describe('the line of progress', () => {
  it('draws a bar with count, speed and time left on a terminal, at most ten times a second', () => {
    const clock = createFakeClock(0);
    const drawn: string[] = [];
    const output = { print: assert.fail, say: assert.fail };
    const line = createProgressLine({ clock, output, terminal: { write: (text) => drawn.push(text) } });
    line.show(1_000, 5_000);
    clock.advance(50);
    line.show(1_100, 5_000);
    clock.advance(9_950);
    line.show(3_000, 5_000);
    line.clear();
    line.clear();
    assert.deepEqual(drawn, [
      '\r\u001b[2K[####....................] 1000 of 5000 tokens',
      '\r\u001b[2K[##############..........] 3000 of 5000 tokens, 200 a second, 10 s left',
      '\r\u001b[2K',
    ]);
  });

  it('says a plain line every ten seconds where nobody watches, and starts anew with another kind of work', () => {
    const clock = createFakeClock(0);
    const said: string[] = [];
    const output = { print: assert.fail, say: (text: string) => said.push(text) };
    const line = createProgressLine({ clock, output, terminal: undefined });
    line.show(0, 7_300, 'checked');
    clock.advance(9_999);
    line.show(10, 7_300, 'checked');
    clock.advance(1);
    line.show(20, 7_300, 'checked');
    line.show(0, 7_300, 'imported');
    clock.advance(10_000);
    line.show(10, 7_300, 'imported');
    line.clear();
    assert.deepEqual(said, [
      '20 of 7300 checked, 2 a second, 1 h 0 min left',
      '10 of 7300 imported, 1 a second, 2 h 1 min left',
    ]);
  });
});
