// needs: processes

import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { BasisTheory } from '@basis-theory/basis-theory-js';
import { BasisTheoryClient, BasisTheoryError } from '@basis-theory/node-sdk';
import { createClient } from './client.js';
import { js } from './compatibility-js.js';
import { isApiError } from './compatibility-js-checks.js';
import { nodeSdk } from './compatibility-node-sdk.js';
import { isError, statusOf } from './compatibility-node-sdk-checks.js';
import type { Reference } from './compatibility-subject.js';
import { openReference } from './compatibility-subject.js';
import { tolerances } from './compatibility-tolerances.js';
import type { LoopbackGuard } from './loopback-only.js';
import { guardLoopback } from './loopback-only.js';

const SEARCHES_MAX = 50;
const isForeign = process.env.ACCEPTANCE_BASE_URL ? 'it needs a server that takes the header prefix BT' : false;

/** Packages that were published for the reference API, unchanged but for the address they talk to. */
describe('clients written for the reference API', { skip: isForeign }, () => {
  let opened: Reference;
  let guard: LoopbackGuard;
  before(async () => {
    guard = guardLoopback();
    opened = await openReference();
  });
  after(async () => {
    guard.lift();
    await opened.close();
  });

  tolerances(() => opened);
  nodeSdk(() => opened);
  js(() => opened);

  it('read a 429 as what it is', async () => {
    const apiKey = 'any';
    const { baseUrl } = opened;
    const call = createClient(baseUrl);
    await Promise.all(Array.from({ length: SEARCHES_MAX + 1 }, () => call('POST', '/tokens/search')));
    const one = new BasisTheoryClient({ apiKey, baseUrl }).tokens.search({}, { maxRetries: 0 });
    await assert.rejects(one, (error) => isError(error, BasisTheoryError) && statusOf(error) === 429);
    const other = await new BasisTheory().init(apiKey, { apiBaseUrl: baseUrl });
    await assert.rejects(other.tokens.search({}), (error) => isApiError(error, 429));
  });

  it('reach this machine and nothing else', async () => {
    assert.deepEqual(guard.refused, []);
    // A cluster is prepared by its addresses.
    const isCluster = process.env.TEST_DATABASE === 'citus';
    assert.deepEqual([...guard.reached].sort(), isCluster ? ['127.0.0.1', 'localhost'] : ['localhost']);
    await assert.rejects(fetch('http://192.0.2.1/'));
    await assert.rejects(fetch('https://service.invalid/'));
    assert.throws(() => get('http://other.invalid/'), /only this machine/);
    assert.deepEqual(guard.refused, ['192.0.2.1', 'service.invalid', 'other.invalid']);
  });
});
