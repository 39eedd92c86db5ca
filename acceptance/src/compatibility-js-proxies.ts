import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheory } from '@basis-theory/basis-theory-js';
import { isApiError } from './compatibility-js-checks.js';
import { callsOf } from './recorded-client.js';

export function jsProxies(management: () => BasisTheory): void {
  it('creates, reads, lists, changes and deletes a proxy', async () => {
    const { proxies, applications } = management();
    const { id: applicationId } = await applications.create({
      ...{ name: 'Of a proxy', type: 'private' as const, permissions: ['token:use'] },
    });
    const made = await proxies.create({
      ...{ name: 'JS', destinationUrl: 'https://one.example/base', requestTransform: { code: 'one' } },
      ...{ configuration: { SERVICE_KEY: 'a' }, requireAuth: false, application: { id: applicationId } },
    });
    assert.match(made.key, /^key_prx_[0-9A-Za-z]{32}$/);
    const found = await proxies.retrieve(made.id);
    assert.deepEqual(found, made);
    assert.deepEqual(
      [found.destinationUrl, found.requestTransform, found.responseTransform, found.requireAuth, found.applicationId],
      ['https://one.example/base', { code: 'one' }, undefined, false, applicationId],
    );
    const { data, pagination } = await proxies.list({ name: 'J*', size: 5 });
    assert.deepEqual([data, pagination.totalItems], [[found], 1]);
    assert.deepEqual((await proxies.list({ id: [made.id] })).data, [found]);
    const changed = await proxies.update(made.id, { name: 'JS 2', destinationUrl: 'https://two.example' });
    assert.deepEqual(
      [changed.name, changed.destinationUrl, changed.requestTransform, changed.configuration, changed.requireAuth],
      ['JS 2', 'https://two.example', undefined, {}, true],
    );
    assert.equal(changed.key, made.key);
    await proxies.patch(made.id, { configuration: { OTHER: 'b' }, responseTransform: { code: 'two' } });
    const patched = await proxies.retrieve(made.id);
    assert.deepEqual([patched.configuration, patched.responseTransform], [{ OTHER: 'b' }, { code: 'two' }]);
    await proxies.delete(made.id);
    await assert.rejects(proxies.retrieve(made.id), (error) => isApiError(error, 404));
    const odd = proxies.create({ name: 'Odd', destinationUrl: 'https://127.0.0.1' });
    await assert.rejects(odd, (error) => isApiError(error, 400, 'destinationUrl'));
  });

  it('has no call that makes the key of a proxy anew', () => {
    const calls = ['create', 'delete', 'list', 'patch', 'retrieve', 'update'];
    assert.deepEqual(callsOf(management().proxies, []), calls);
  });
}
