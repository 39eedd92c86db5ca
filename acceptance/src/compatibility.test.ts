import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { js } from './compatibility-js.js';
import { nodeSdk } from './compatibility-node-sdk.js';
import type { Reference } from './compatibility-subject.js';
import { openReference } from './compatibility-subject.js';
import type { LoopbackGuard } from './loopback-only.js';
import { guardLoopback } from './loopback-only.js';

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

  nodeSdk(() => opened);
  js(() => opened);

  it('reach this machine and nothing else', async () => {
    assert.deepEqual(guard.refused, []);
    assert.deepEqual([...guard.reached], ['localhost']);
    for (const address of ['http://192.0.2.1/', 'https://service.invalid/']) {
      await assert.rejects(fetch(address));
    }
    assert.deepEqual(guard.refused, ['192.0.2.1', 'service.invalid']);
  });
});
