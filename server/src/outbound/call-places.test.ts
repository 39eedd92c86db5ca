import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallPlaces } from './call-places.js';
import { OutboundError } from './outbound-error.js';

const OPTIONS = { max: 2, ofTenantMax: 2, ofDestinationMax: 1, waitingOfTenantMax: 10 };
const never = new AbortController().signal;
const asked = (tenantId: string, destination = 'x') => ({ tenantId, poolName: `${tenantId} ${destination}` });

describe('places for calls', () => {
  it('one that is granted and aborted in the same turn is given back', async () => {
    const places = new CallPlaces({ ...OPTIONS, max: 1 });
    const leave = await places.take(asked('a'), never);
    const caller = new AbortController();
    const waiting = places.take(asked('b'), caller.signal);
    leave();
    caller.abort(new OutboundError('aborted'));
    await assert.rejects(waiting, { code: 'aborted' });
    assert.equal(places.taken(), 0);
    assert.equal(places.waiting(), 0);
    assert.equal(typeof (await places.take(asked('c'), never)), 'function');
  });

  it('tenants are served in turn, and a full destination does not hold up another', async () => {
    const places = new CallPlaces({ ...OPTIONS, max: 1 });
    const order: string[] = [];
    const call = async (tenantId: string, name: string): Promise<void> => {
      const leave = await places.take(asked(tenantId, name), never);
      order.push(name);
      leave();
      leave(); // The second time changes nothing.
    };
    const leave = await places.take(asked('z'), never);
    const calls = [call('a', 'a1'), call('a', 'a2'), call('a', 'a3'), call('b', 'b1')];
    leave();
    await Promise.all(calls);
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'a3']);

    const two = new CallPlaces(OPTIONS);
    await two.take(asked('a', 'slow'), never);
    void two.take(asked('a', 'slow'), never);
    assert.equal(two.waiting(), 1);
    assert.equal(typeof (await two.take(asked('a', 'fast'), never)), 'function');
    assert.equal(two.taken(), 2);
  });
});
