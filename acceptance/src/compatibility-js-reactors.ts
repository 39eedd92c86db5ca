import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheory } from '@basis-theory/basis-theory-js';
import { isApiError } from './compatibility-js-checks.js';
import { REACTOR_CODE, runsCode } from './compatibility-reactor-code.js';
import type { Reference } from './compatibility-subject.js';

const CARD = '4242424242424242';

export function jsReactors(management: () => BasisTheory, server: () => BasisTheory, reference: () => Reference): void {
  it('creates, reads, lists, changes and deletes a reactor', async () => {
    const { reactors } = management();
    const made = await reactors.create({ name: 'JS', code: 'one', configuration: { SERVICE_KEY: 'a' } });
    assert.deepEqual([made.name, made.code, made.configuration], ['JS', 'one', { SERVICE_KEY: 'a' }]);
    const found = await reactors.retrieve(made.id);
    assert.deepEqual([found.id, found.tenantId, found.createdBy], [made.id, made.tenantId, made.createdBy]);
    const { data, pagination } = await reactors.list({ name: 'J*', size: 5 });
    assert.deepEqual([data, pagination.totalItems], [[found], 1]);
    assert.deepEqual((await reactors.list({ id: [made.id] })).data, [found]);
    const changed = await reactors.update(made.id, { name: 'JS 2', code: 'two' });
    assert.deepEqual([changed.name, changed.code, changed.configuration], ['JS 2', 'two', {}]);
    await reactors.patch(made.id, { configuration: { OTHER: 'b' } });
    assert.deepEqual((await reactors.retrieve(made.id)).configuration, { OTHER: 'b' });
    await reactors.delete(made.id);
    await assert.rejects(reactors.retrieve(made.id), (error) => isApiError(error, 404));
  });

  it('runs a reactor on the value of a token, and reads what its code threw', async (t) => {
    if (!(await runsCode(reference()))) return t.skip('this machine has no wall for code');
    const { reactors, applications } = management();
    const { id: applicationId } = await applications.create({
      ...{ name: 'Code', type: 'private' as const, permissions: ['token:create'] },
    });
    const { id } = await reactors.create({
      ...{ name: 'Runs', code: REACTOR_CODE, configuration: { GREETING: 'hello' } },
      application: { id: applicationId },
    });
    const token = await server().tokens.create({ type: 'card_number', data: CARD });
    const ran = await server().reactors.react(id, { args: { card: `{{ ${token.id} }}` } });
    const { raw, tokens }: { raw?: Record<string, unknown>; tokens?: Record<string, unknown> } = { ...ran };
    assert.deepEqual([raw?.lastFour, raw?.greeting], ['4242', 'hello']);
    const tokenId = String(tokens?.id);
    assert.equal((await server().tokens.retrieve(tokenId)).data, CARD);
    assert.equal((await server().tokens.retrieve(String(raw?.made))).data, 'from code');
    await assert.rejects(server().reactors.react(id, { args: {} }), (error) => isApiError(error, 400, 'card'));
  });
}
