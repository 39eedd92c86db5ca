import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BasisTheory, BasisTheoryClient } from '@basis-theory/node-sdk';
import { isError } from './compatibility-node-sdk-checks.js';
import { given } from './compatibility-subject.js';
import { callsOf } from './recorded-client.js';

export function nodeSdkProxies(management: () => BasisTheoryClient): void {
  it('creates, reads, lists, changes and deletes a proxy', async () => {
    const { proxies, applications } = management();
    const application = await applications.create({ name: 'Of a proxy', type: 'private', permissions: ['token:use'] });
    const made = await proxies.create({
      ...{ name: 'SDK', destinationUrl: 'https://one.example/base', responseTransform: { code: 'one' } },
      ...{ configuration: { SERVICE_KEY: 'a' }, requireAuth: false, application },
      ...{ requestReactorId: '', responseReactorId: 'not one of ours' },
    });
    const id = given(made.id);
    const key = given(made.key);
    assert.match(key, /^key_prx_[0-9A-Za-z]{32}$/);
    const found = await proxies.get(id);
    assert.deepEqual(found, made);
    assert.deepEqual(
      [found.requestTransform, found.responseTransform, found.requireAuth, found.applicationId],
      [undefined, { code: 'one' }, false, application.id],
    );
    assert.deepEqual([found.requestReactorId, found.responseReactorId], [undefined, 'not one of ours']);
    assert.deepEqual((await proxies.list({ name: 'S*' })).data, [found]);
    assert.deepEqual((await proxies.list({ id })).data, [found]);
    const changed = await proxies.update(id, { name: 'SDK 2', destinationUrl: 'https://two.example:8443' });
    assert.deepEqual(
      [changed.name, changed.destinationUrl, changed.responseTransform, changed.configuration, changed.key],
      ['SDK 2', 'https://two.example:8443', undefined, {}, key],
    );
    assert.equal(await proxies.patch(id, { configuration: { OTHER: 'b' } }), undefined);
    assert.deepEqual((await proxies.get(id)).configuration, { OTHER: 'b' });
    assert.equal(await proxies.delete(id), undefined);
    await assert.rejects(proxies.get(id), (error) => isError(error, BasisTheory.NotFoundError));
    const odd = proxies.create({ name: 'Odd', destinationUrl: 'http://one.example' });
    await assert.rejects(odd, (error) => isError(error, BasisTheory.BadRequestError));
  });

  it('has no call that goes through a proxy, and none that makes its key anew', () => {
    const calls = callsOf(new BasisTheoryClient({ apiKey: 'unused' }), []);
    assert.deepEqual(
      calls.filter((name) => /prox/i.test(name)),
      ['create', 'delete', 'get', 'list', 'patch', 'update'].map((name) => `proxies.${name}`),
    );
    assert.deepEqual(
      calls.filter((name) => /regenerate/i.test(name)),
      [],
    );
  });
}
