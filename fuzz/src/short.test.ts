// needs: processes
// attack: sends thousands of hostile requests to a product of its own

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { PARTS } from './parts.js';
import { runFuzz } from './run.js';

const SEEDS = 1_000_000_000;
const REQUESTS_MIN = 11_000;
const NEIGHBOUR_REQUESTS_MIN = 50;

describe('the hostile-input suite, short form', () => {
  it('no 5xx, exit, hang, leak or severe log line for thousands of hostile requests of every part', async () => {
    const seed = randomInt(SEEDS);
    const result = await runFuzz({ seed, isLong: false, print: () => {} });
    assert.deepEqual(result.findings, [], `npm run test:fuzz -- --seed ${seed}`);
    assert.deepEqual(result.parts.map(({ name }) => name).sort(), PARTS.map(({ name }) => name).sort());
    for (const { name, cases } of result.parts) assert.ok(cases > 0, name);
    assert.ok(result.requests >= REQUESTS_MIN, `${result.requests} requests`);
    // That it was disturbed by nothing is among the findings; here, that it was there.
    assert.ok(result.neighbour.requests >= NEIGHBOUR_REQUESTS_MIN, `${result.neighbour.requests} of the neighbour`);
  });
});
