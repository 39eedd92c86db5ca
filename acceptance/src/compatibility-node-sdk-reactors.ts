import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheoryClient } from '@basis-theory/node-sdk';
import { BasisTheory } from '@basis-theory/node-sdk';
import { isError } from './compatibility-node-sdk-checks.js';
import { REACTOR_CODE, runsCode } from './compatibility-reactor-code.js';
import type { Reference } from './compatibility-subject.js';
import { given } from './compatibility-subject.js';

const CARD = '4242424242424242';
const RESULT_WAIT_MS = 20_000;

export function nodeSdkReactors(
  management: () => BasisTheoryClient,
  server: () => BasisTheoryClient,
  reference: () => Reference,
): void {
  it('creates, reads, lists, changes and deletes a reactor', async () => {
    const { reactors } = management();
    const made = await reactors.create({ name: 'SDK', code: 'one', configuration: { SERVICE_KEY: 'a' } });
    const id = given(made.id);
    assert.deepEqual([made.name, made.code, made.configuration], ['SDK', 'one', { SERVICE_KEY: 'a' }]);
    assert.ok(made.createdAt instanceof Date);
    const found = await reactors.get(id);
    assert.deepEqual([found.id, found.tenantId, found.createdBy], [id, made.tenantId, made.createdBy]);
    assert.deepEqual((await reactors.list({ name: 'S*' })).data, [found]);
    assert.deepEqual((await reactors.list({ id })).data, [found]);
    const changed = await reactors.update(id, { name: 'SDK 2', code: 'two' });
    assert.deepEqual([changed.name, changed.code, changed.configuration], ['SDK 2', 'two', {}]);
    assert.equal(await reactors.patch(id, { configuration: { OTHER: 'b' } }), undefined);
    assert.deepEqual((await reactors.get(id)).configuration, { OTHER: 'b' });
    assert.equal(await reactors.delete(id), undefined);
    await assert.rejects(reactors.get(id), (error) => isError(error, BasisTheory.NotFoundError));
    const odd = reactors.create({ name: '', code: 'one' });
    await assert.rejects(odd, (error) => isError(error, BasisTheory.BadRequestError, 'name'));
  });

  it('runs a reactor on the value of a token, and reads what its code threw', async (t) => {
    if (!(await runsCode(reference()))) return t.skip('this machine has no wall for code');
    const { reactors, applications } = management();
    const application = await applications.create({ name: 'Code', type: 'private', permissions: ['token:create'] });
    const made = await reactors.create({
      ...{ name: 'Runs', code: REACTOR_CODE, configuration: { GREETING: 'hello' } },
      application: { id: given(application.id) },
    });
    const id = given(made.id);
    assert.equal(made.application?.id, application.id);
    const token = await server().tokens.create({ type: 'card_number', data: CARD });
    const ran = await server().reactors.react(id, { args: { card: `{{ ${token.id} }}` } });
    const [raw, tokens] = [Object(ran.raw), Object(ran.tokens)];
    assert.deepEqual([raw.lastFour, raw.greeting], ['4242', 'hello']);
    assert.equal((await server().tokens.get(String(tokens.id))).data, CARD);
    assert.equal((await server().tokens.get(String(raw.made))).data, 'from code');
    const { asyncReactorRequestId } = await server().reactors.reactAsync(id, { args: { card: `{{ ${token.id} }}` } });
    const later = Object(await resultOf(server(), id, given(asyncReactorRequestId)));
    assert.equal(later.raw.lastFour, '4242');
    const refused = server().reactors.react(id, { args: {} });
    await assert.rejects(refused, (error) => isError(error, BasisTheory.BadRequestError, 'card'));
  });
}

/** There is none until the run has ended. */
async function resultOf(client: BasisTheoryClient, id: string, requestId: string): Promise<unknown> {
  const untilMs = Date.now() + RESULT_WAIT_MS;
  for (;;) {
    try {
      return await client.reactors.results.get(id, requestId);
    } catch (error) {
      if (!isError(error, BasisTheory.NotFoundError) || Date.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
