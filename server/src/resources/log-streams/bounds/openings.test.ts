import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOpenings } from './openings.js';

describe('what users keep open', () => {
  const of = (userId: string, tenantId: string) => ({ userId, tenantId });

  it('is bounded for a user, for a tenant and for all, and what is given back is free', () => {
    const openings = createOpenings({ ofUserMax: 2, ofTenantMax: 3, max: 4, what: 'views' });
    const releases = [openings.take(of('ann', 'one')), openings.take(of('ann', 'one'))];
    assert.throws(() => openings.take(of('ann', 'two')), { code: 'overloaded', message: /You have 2 views/ });
    releases.push(openings.take(of('bob', 'one')));
    assert.throws(() => openings.take(of('cid', 'one')), { code: 'overloaded', message: /This Tenant has 3 views/ });
    releases.push(openings.take(of('cid', 'two')));
    assert.throws(() => openings.take(of('dan', 'two')), { code: 'overloaded', message: /This server has 4 views/ });
    for (const release of releases) release();
    for (let n = 0; n < 3; n += 1) openings.take(of(`user ${n}`, 'one'));
    assert.throws(() => openings.take(of('ann', 'one')), { message: /This Tenant has 3 views/ });
  });

  it('is given back once, however often that is said', () => {
    const openings = createOpenings({ ofUserMax: 2, ofTenantMax: 2, max: 2, what: 'views' });
    const release = openings.take(of('ann', 'one'));
    openings.take(of('ann', 'one'));
    release();
    release();
    openings.take(of('ann', 'one'));
    assert.throws(() => openings.take(of('ann', 'one')), { code: 'overloaded' });
  });
});
