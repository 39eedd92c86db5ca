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
    await assert.rejects(Promise.resolve(waiting), { code: 'aborted' });
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

  it('calls without a key leave half of a destination and three quarters of a tenant to those with one', async () => {
    const places = new CallPlaces({ max: 100, ofTenantMax: 16, ofDestinationMax: 6, waitingOfTenantMax: 8 });
    const strange = (destination: string) => ({ ...asked('a', destination), isAnonymous: true });
    const leaves = [];
    for (let count = 0; count < 3; count += 1) leaves.push(await places.take(strange('x'), never));
    const fourth = places.take(strange('x'), never);
    assert.deepEqual([places.taken(), places.waiting()], [3, 1], 'half of the destination');
    for (let count = 0; count < 3; count += 1) await places.take(asked('a', 'x'), never);
    assert.equal(places.taken(), 6, 'those with a key have the rest');

    await places.take(strange('y'), never);
    const last = places.take(strange('z'), never);
    assert.deepEqual([places.taken(), places.waiting()], [7, 2], 'a quarter of the tenant');
    await assert.rejects(
      async () => places.take(strange('z'), never),
      { code: 'busy' },
      'and a quarter of those who may wait',
    );
    await places.take(asked('a', 'z'), never);
    await places.take({ ...asked('b', 'x'), isAnonymous: true }, never);
    const keyed = places.take(asked('a', 'x'), never);
    assert.deepEqual([places.taken(), places.waiting()], [9, 3], 'one with a key still waits in line');

    for (const leave of leaves) leave();
    for (const leave of await Promise.all([fourth, last, keyed])) leave();
    assert.deepEqual([places.taken(), places.waiting()], [6, 0]);
  });

  it('a call without a key that ends makes room for one to its destination and for another without a key', async () => {
    const places = new CallPlaces({ max: 100, ofTenantMax: 4, ofDestinationMax: 2, waitingOfTenantMax: 8 });
    const leave = await places.take({ ...asked('a', 'x'), isAnonymous: true }, never);
    await places.take(asked('a', 'x'), never);
    const both = [places.take(asked('a', 'x'), never), places.take({ ...asked('a', 'y'), isAnonymous: true }, never)];
    assert.equal(places.waiting(), 2);
    leave();
    assert.deepEqual([places.taken(), places.waiting()], [3, 0]);
    await Promise.all(both);
  });
});
