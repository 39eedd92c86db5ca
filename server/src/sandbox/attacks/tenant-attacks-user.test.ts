// needs: account, engine

import { after, before, describe } from 'node:test';
import { TenantBench } from './tenant-bench-fixture.js';
import { itHolds } from './tenant-modes-fixture.js';

/** In a file of its own: what root cannot run is run again without its rights, file by file. */
describe('code that tries to get out of the process of an ordinary user', () => {
  let bench: TenantBench;
  before(async () => {
    bench = await TenantBench.open();
  });
  after(() => bench.close());

  itHolds('user', () => bench);
});
