import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AskToCount } from './asking-counter.js';
import { AskingCounter } from './asking-counter.js';
import { LIMITS } from './catalogue.js';
import { answerAsks } from './counting-desk.js';
import { createMemoryCounter } from './memory-counter.js';
import { createManualClock, rateCounterSuite } from './rate-counter-suite.js';

const SEED = Buffer.from('5eedfacecafebabe', 'hex');
const GLOBAL = [LIMITS.global];
const SEARCH = [LIMITS.global, LIMITS.tokensSearch];
const REST_MS = 1_000;

function setUp() {
  const clock = createManualClock();
  const held = createMemoryCounter({ clock, seed: SEED });
  const story: boolean[] = [];
  let isHung = false;
  let messages = 0;
  /** As between processes: nothing but text passes. */
  const ask: AskToCount = async (asks) => {
    messages += 1;
    if (isHung) throw new Error('no answer');
    return JSON.parse(JSON.stringify(answerAsks(held, JSON.parse(JSON.stringify(asks)))));
  };
  const open = () =>
    new AskingCounter({
      clock,
      ask,
      fallback: () => createMemoryCounter({ clock, seed: SEED, slots: 1_024 }),
      onSilence: (isSilent) => story.push(isSilent),
    });
  return {
    clock,
    open,
    story,
    messages: () => messages,
    hang: (is: boolean) => {
      isHung = is;
    },
  };
}

rateCounterSuite('asking counter', (clock) => {
  const held = createMemoryCounter({ clock, seed: SEED });
  const ask: AskToCount = async (asks) =>
    JSON.parse(JSON.stringify(answerAsks(held, JSON.parse(JSON.stringify(asks)))));
  const never = () => assert.fail('nobody is silent');
  return new AskingCounter({ clock, ask, fallback: never, onSilence: never });
});

describe('a counter held by another process', () => {
  it('counts two processes as one: together they get the limit, not each', async () => {
    const { open } = setUp();
    const counters = [open(), open()] as const;
    const verdicts = await Promise.all(
      Array.from({ length: LIMITS.global.requests + 1 }, (_, sent) =>
        counters[sent % 2 === 0 ? 0 : 1].check('a', GLOBAL),
      ),
    );
    assert.equal(verdicts.filter(({ isAllowed }) => isAllowed).length, LIMITS.global.requests);
  });

  it('sends one message for all requests of a turn', async () => {
    const { open, messages } = setUp();
    const counter = open();
    await Promise.all(Array.from({ length: 100 }, (_, client) => counter.check(`client ${client}`, SEARCH)));
    assert.equal(messages(), 1);
  });

  it('asks nobody about a client whose widest limit is known to block it, until the block is over', async () => {
    const { clock, open, messages } = setUp();
    const counter = open();
    const requests = LIMITS.global.requests + 1;
    await Promise.all(Array.from({ length: requests }, () => counter.check('a', GLOBAL)));
    const before = messages();
    clock.advance(4_000);
    assert.deepEqual(counter.check('a', SEARCH), { isAllowed: false, row: LIMITS.global, retryAfterMs: 6_000 });
    assert.equal(messages(), before);
    clock.advance(6_000);
    assert.deepEqual(await counter.check('a', SEARCH), { isAllowed: true });
    assert.equal(messages(), before + 1);
  });

  it('still counts in the widest limit what a narrower one blocks', async () => {
    const { open } = setUp();
    const counter = open();
    for (let sent = 0; sent < LIMITS.global.requests; sent += 1) await counter.check('a', SEARCH);
    const verdict = await counter.check('a', GLOBAL);
    assert.equal(verdict.isAllowed, false);
  });

  it('goes on asking after a single answer that did not come: the limit of all holds', async () => {
    const { open, hang, story, messages } = setUp();
    const counter = open();
    hang(true);
    assert.deepEqual(await counter.check('a', GLOBAL), { isAllowed: true });
    hang(false);
    await Promise.all(Array.from({ length: LIMITS.global.requests }, () => counter.check('a', GLOBAL)));
    assert.equal((await counter.check('a', GLOBAL)).isAllowed, false);
    assert.equal(messages(), 3);
    assert.deepEqual(story, []);
  });

  it('decides alone at the full limit while nobody answers: neither refused nor without limit', async () => {
    const { open, hang, story, clock, messages } = setUp();
    const counter = open();
    hang(true);
    let passed = 0;
    for (let sent = 0; sent < LIMITS.global.requests * 3; sent += 1) {
      if ((await counter.check('a', GLOBAL)).isAllowed) passed += 1;
    }
    assert.equal(passed, LIMITS.global.requests);
    assert.equal(messages(), 2, 'only the first two were held up');
    hang(false);
    clock.advance(REST_MS);
    assert.deepEqual(await counter.check('b', GLOBAL), { isAllowed: true });
    assert.deepEqual(story, [true, false], 'told once each');
  });
});
