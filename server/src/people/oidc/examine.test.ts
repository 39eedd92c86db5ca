import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { examineIssuers } from './examine.js';
import type { IssuerPair } from './oidc-fixture.js';
import { oidcTrial, startIssuerPair, stopLying } from './oidc-fixture.js';

let pair: IssuerPair;
before(async () => {
  pair = await startIssuerPair();
});
after(() => pair.close());

const HANGS_MS = 60_000;

const examine = (timeoutMs = HANGS_MS) => {
  const { way: outbound, issuers } = oidcTrial(pair);
  return examineIssuers(issuers, { outbound, clock: systemClock, timeoutMs });
};

it('issuers whose documents are good have no fault, and are asked for nothing else', async () => {
  assert.deepEqual(await examine(), [
    { name: 'Issuer a', fault: undefined },
    { name: 'Issuer b', fault: undefined },
  ]);
  assert.deepEqual(
    [pair.a.asked, pair.b.asked],
    [['/.well-known/openid-configuration'], ['/.well-known/openid-configuration']],
  );
});

it('the fault of one is told without its answer, and the other is fine', async () => {
  pair.a.lies.document = { issuer: 'https://elsewhere.example.com' };
  const [a, b] = await examine();
  stopLying(pair);
  assert.equal(b?.fault, undefined);
  assert.match(a?.fault ?? '', /issuer/);
  assert.doesNotMatch(a?.fault ?? '', /elsewhere|hush/);
});

it('nobody waits for one that says nothing', async () => {
  pair.a.lies.replyTo = () => 'silence';
  const [a, b] = await examine(300);
  stopLying(pair);
  assert.equal(typeof a?.fault, 'string');
  assert.equal(b?.name, 'Issuer b');
});
