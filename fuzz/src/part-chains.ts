import type { Answer } from './answer.js';
import type { Case, Part } from './part.js';
import type { Sent } from './request.js';

/** Things used after their end, by strangers, as what they are not, or twice. */
export const chains: Part = {
  name: 'chains',
  about:
    "use after delete, other tenants' ids, ids of other kinds, ended keys and sessions, idempotency keys used twice",
  cases: { short: 260, long: 8_000 },
  width: 32,
  async run(one) {
    const chain = CHAINS[one.index % CHAINS.length];
    if (chain === undefined) throw new Error('assertion failed: there are chains');
    await chain(one);
  },
};

const CHAINS: readonly ((one: Case) => Promise<void>)[] = [
  useTokenAfterDelete,
  useApplicationAfterDelete,
  useKeyAfterRevoking,
  useKeyAfterRegenerating,
  useSessionAfterDelete,
  touchForeignToken,
  touchForeignApplication,
  searchForeign,
  mistakeIds,
  repeatIdempotently,
  takeIdTwice,
  useExpired,
  authorizeTwice,
  exceedRights,
];

const json = JSON.stringify;

function isStatus(one: Case, answer: Answer, ...expected: number[]): void {
  one.check(expected.includes(answer.status), `answered ${answer.status} instead of ${expected.join(' or ')}`);
}

function idIn(answer: Answer, name = 'id'): string {
  return String(JSON.parse(answer.body)[name]);
}

async function makeToken(one: Case, more: object = {}): Promise<string> {
  const body = json({ data: { value: one.world.secretMark, at: one.index }, ...more });
  const made = await one.call(one.world.main.privateKey, 'POST', '/tokens', body);
  isStatus(one, made, 201);
  return idIn(made);
}

async function makeApplication(one: Case, type: string, permissions: string[]): Promise<{ id: string; key: string }> {
  const body = json({ name: 'Chain', type, permissions });
  const made = await one.call(one.world.main.manageKey, 'POST', '/applications', body);
  isStatus(one, made, 201);
  return { id: idIn(made), key: idIn(made, 'key') };
}

async function useTokenAfterDelete(one: Case): Promise<void> {
  const key = one.world.main.privateKey;
  const id = await makeToken(one, { metadata: { chain: `c${one.index}` } });
  isStatus(one, await one.call(key, 'GET', `/tokens/${id}`), 200);
  isStatus(one, await one.call(key, 'DELETE', `/tokens/${id}`), 204);
  isStatus(one, await one.call(key, 'GET', `/tokens/${id}`), 404);
  isStatus(one, await one.call(key, 'PATCH', `/tokens/${id}`, json({ metadata: { a: 'b' } })), 404);
  isStatus(one, await one.call(key, 'DELETE', `/tokens/${id}`), 404);
  isStatus(one, await one.call(key, 'POST', '/detokenize', json(`{{ ${id} }}`)), 400);
  const listed = await one.call(key, 'GET', `/v2/tokens?id=${id}`);
  one.check(JSON.parse(listed.body).data.length === 0, 'a deleted token is listed');
  const found = await one.call(key, 'POST', '/tokens/search', json({ query: `id:${id}` }));
  one.check(JSON.parse(found.body).data.length === 0, 'a deleted token is found');
}

async function useApplicationAfterDelete(one: Case): Promise<void> {
  const manage = one.world.main.manageKey;
  const { id, key } = await makeApplication(one, 'private', ['token:read']);
  isStatus(one, await one.call(key, 'GET', '/applications/key'), 200);
  isStatus(one, await one.call(manage, 'DELETE', `/applications/${id}`), 204);
  isStatus(one, await one.call(key, 'GET', '/applications/key'), 401);
  isStatus(one, await one.call(key, 'GET', `/tokens/${one.world.main.tokenId}`), 401);
  isStatus(one, await one.call(manage, 'GET', `/applications/${id}`), 404);
  isStatus(
    one,
    await one.call(manage, 'PUT', `/applications/${id}`, json({ name: 'x', permissions: ['token:read'] })),
    404,
  );
  isStatus(one, await one.call(manage, 'POST', `/applications/${id}/regenerate`), 404);
  isStatus(one, await one.call(manage, 'POST', `/applications/${id}/keys`), 404);
  isStatus(one, await one.call(manage, 'DELETE', `/applications/${id}`), 404);
}

async function useKeyAfterRevoking(one: Case): Promise<void> {
  const manage = one.world.main.manageKey;
  const { id, key } = await makeApplication(one, 'private', ['token:read']);
  const further = await one.call(manage, 'POST', `/applications/${id}/keys`);
  isStatus(one, further, 201);
  const path = `/applications/${id}/keys/${idIn(further)}`;
  isStatus(one, await one.call(idIn(further, 'key'), 'GET', '/permissions'), 200);
  isStatus(one, await one.call(manage, 'DELETE', path), 204);
  isStatus(one, await one.call(idIn(further, 'key'), 'GET', '/permissions'), 401);
  isStatus(one, await one.call(manage, 'GET', path), 404);
  isStatus(one, await one.call(manage, 'DELETE', path), 404);
  isStatus(one, await one.call(key, 'GET', '/permissions'), 200);
  isStatus(one, await one.call(manage, 'DELETE', `/applications/${id}`), 204);
}

async function useKeyAfterRegenerating(one: Case): Promise<void> {
  const manage = one.world.main.manageKey;
  const { id, key } = await makeApplication(one, 'public', ['token:create']);
  const renewed = await one.call(manage, 'POST', `/applications/${id}/regenerate`);
  isStatus(one, renewed, 200);
  isStatus(one, await one.call(key, 'GET', '/permissions'), 401);
  isStatus(one, await one.call(idIn(renewed, 'key'), 'GET', '/permissions'), 200);
  isStatus(one, await one.call(manage, 'DELETE', `/applications/${id}`), 204);
  isStatus(one, await one.call(idIn(renewed, 'key'), 'GET', '/permissions'), 401);
}

async function useSessionAfterDelete(one: Case): Promise<void> {
  const { main } = one.world;
  const visitor = await makeApplication(one, 'public', ['token:create']);
  const session = await one.call(visitor.key, 'POST', '/sessions');
  isStatus(one, session, 201);
  const key = idIn(session, 'session_key');
  isStatus(one, await one.call(key, 'GET', `/tokens/${main.tokenId}`), 403);
  const body = json({ nonce: idIn(session, 'nonce'), permissions: ['token:read'] });
  isStatus(one, await one.call(main.privateKey, 'POST', '/sessions/authorize', body), 200);
  isStatus(one, await one.call(key, 'GET', `/tokens/${main.tokenId}`), 200);
  isStatus(one, await one.call(key, 'GET', '/tenants/self'), 403);
  isStatus(one, await one.call(key, 'GET', `/tokens/${one.world.victim.tokenId}`), 404);
  isStatus(one, await one.call(main.manageKey, 'DELETE', `/applications/${visitor.id}`), 204);
  isStatus(one, await one.call(key, 'GET', `/tokens/${main.tokenId}`), 401);
}

async function touchForeignToken(one: Case): Promise<void> {
  const { main, victim } = one.world;
  const key = main.privateKey;
  const id = one.random.pick([victim.tokenId, ...victim.scratchTokenIds]);
  isStatus(one, await one.call(key, 'GET', `/tokens/${id}`), 404);
  isStatus(one, await one.call(key, 'PATCH', `/tokens/${id}`, json({ data: 1 })), 404);
  isStatus(one, await one.call(key, 'DELETE', `/tokens/${id}`), 404);
  isStatus(one, await one.call(key, 'POST', '/detokenize', json({ a: `{{ ${id} }}` })), 400);
  isStatus(one, await one.call(victim.privateKey, 'HEAD', `/tokens/${id}`), 200);
}

async function touchForeignApplication(one: Case): Promise<void> {
  const { main, victim } = one.world;
  const { applicationId: id, keyId } = one.random.pick(victim.scratch);
  const body = json({ name: 'Mine now', permissions: ['token:read'] });
  isStatus(one, await one.call(main.manageKey, 'GET', `/applications/${id}`), 404);
  isStatus(one, await one.call(main.manageKey, 'PUT', `/applications/${id}`, body), 404);
  isStatus(one, await one.call(main.manageKey, 'DELETE', `/applications/${id}`), 404);
  isStatus(one, await one.call(main.manageKey, 'POST', `/applications/${id}/regenerate`), 404);
  isStatus(one, await one.call(main.manageKey, 'GET', `/applications/${id}/keys`), 404);
  isStatus(one, await one.call(main.manageKey, 'DELETE', `/applications/${id}/keys/${keyId}`), 404);
  isStatus(one, await one.call(main.manageKey, 'GET', `/applications/${main.applicationId}/keys/${keyId}`), 404);
  isStatus(one, await one.call(victim.manageKey, 'HEAD', `/applications/${id}`), 200);
}

/** Every list there is, asked for what another tenant has: nothing comes back. */
async function searchForeign(one: Case): Promise<void> {
  const { main, victim } = one.world;
  const key = main.privateKey;
  const empty = async (answer: Promise<Answer>): Promise<void> => {
    const got = await answer;
    isStatus(one, got, 200);
    one.check(JSON.parse(got.body).data.length === 0, "another tenant's entity is listed");
  };
  const search = (query: string): string => json({ query });
  await empty(one.call(key, 'GET', `/tokens?id=${victim.tokenId}`));
  await empty(one.call(key, 'GET', `/v2/tokens?metadata.owner=${victim.mark}`));
  await empty(one.call(key, 'POST', '/tokens/search', search(`metadata.owner:${victim.mark}`)));
  await empty(one.call(key, 'POST', '/v2/tokens/search', search(`data:"${victim.mark}-1"`)));
  await empty(one.call(key, 'POST', '/tokens/search', search(`created_by:${victim.applicationId}`)));
  await empty(one.call(main.manageKey, 'GET', `/applications?id=${victim.applicationId}`));
  await empty(one.call(main.manageKey, 'GET', `/logs?entity_id=${victim.tokenId}`));
}

async function mistakeIds(one: Case): Promise<void> {
  const { main, templateId } = one.world;
  const key = main.manageKey;
  const mistaken = one.random.pick([main.tokenId, main.id, templateId, 'key', 'self', '__proto__', '0', 'NULL']);
  const wrong = await one.call(key, 'GET', `/applications/${mistaken}`);
  isStatus(one, wrong, mistaken === 'key' ? 200 : 404);
  isStatus(one, await one.call(key, 'GET', `/applications/${main.applicationId}/keys/${main.tokenId}`), 404);
  isStatus(one, await one.call(key, 'GET', `/application-templates/${main.applicationId}`), 404);
  isStatus(one, await one.call(main.privateKey, 'GET', `/tokens/${main.applicationId}`), 404);
  isStatus(one, await one.call(main.privateKey, 'GET', `/tokens/${main.tokenId.toUpperCase()}x`), 404);
}

/** The first answer again, whatever the second body is: no second effect. */
async function repeatIdempotently(one: Case): Promise<void> {
  const { main } = one.world;
  const under = (body: string, method = 'POST', target = '/tokens', key = main.privateKey): Sent => ({
    method,
    target,
    headers: [
      ['SVC-API-KEY', key],
      ['Content-Type', 'application/json'],
      ['SVC-IDEMPOTENCY-KEY', `chain-${one.index}-${main.tokenId}`],
    ],
    body,
  });
  const first = await one.send(under(json({ data: 'first', metadata: { n: '1' } })));
  isStatus(one, first, 201);
  for (const body of [json({ data: 'second' }), '{', json(null), json({ data: 'x'.repeat(5_000) })]) {
    const again = await one.send(under(body));
    isStatus(one, again, 201);
    one.check(again.body === first.body, 'the answer under the same key is another one');
  }
  const elsewhere = await one.send(under(json({ query: '' }), 'POST', '/tokens/search'));
  isStatus(one, elsewhere, 200);
  const stranger = await one.send(under(json({ data: 'mine' }), 'POST', '/tokens', one.world.side.privateKey));
  isStatus(one, stranger, 201);
  one.check(idIn(stranger) !== idIn(first), "another tenant's answer was given again");
}

async function takeIdTwice(one: Case): Promise<void> {
  const id = `chain-${one.index}-${one.random.text(8, 'abcdef')}`;
  await makeToken(one, { id });
  const body = json({ id, data: id, deduplicate_token: false });
  isStatus(one, await one.call(one.world.main.privateKey, 'POST', '/tokens', body), 409);
  const pair = json([
    { type: 'token', data: 1 },
    { type: 'token', id, data: 2 },
  ]);
  isStatus(one, await one.call(one.world.main.privateKey, 'POST', '/tokenize', pair), 409);
  isStatus(one, await one.call(one.world.side.privateKey, 'POST', '/tokens', body), 201);
  isStatus(one, await one.call(one.world.main.privateKey, 'DELETE', `/tokens/${id}`), 204);
  isStatus(one, await one.call(one.world.side.privateKey, 'DELETE', `/tokens/${id}`), 204);
}

async function useExpired(one: Case): Promise<void> {
  const key = one.world.main.privateKey;
  const past = json({ data: 1, expires_at: '2020-01-01T00:00:00Z' });
  isStatus(one, await one.call(key, 'POST', '/tokens', past), 400);
  const soonMs = Date.now() + 40;
  const body = json({ data: 1, expires_at: new Date(soonMs).toISOString() });
  const made = await one.call(key, 'POST', '/tokens', body);
  // On a busy machine the moment may have passed before the request arrived.
  isStatus(one, made, 201, 400);
  if (made.status === 400) return;
  while (Date.now() <= soonMs + 5) await new Promise((resolve) => setTimeout(resolve, 10));
  isStatus(one, await one.call(key, 'GET', `/tokens/${idIn(made)}`), 404);
  isStatus(one, await one.call(key, 'PATCH', `/tokens/${idIn(made)}`, json({ expires_at: null })), 404);
}

async function authorizeTwice(one: Case): Promise<void> {
  const { main, victim } = one.world;
  const session = await one.call(main.publicKey, 'POST', '/sessions');
  isStatus(one, session, 201);
  const body = json({ nonce: idIn(session, 'nonce'), permissions: ['token:read'] });
  isStatus(one, await one.call(victim.privateKey, 'POST', '/sessions/authorize', body), 404);
  isStatus(one, await one.call(main.publicKey, 'POST', '/sessions/authorize', body), 403);
  isStatus(one, await one.call(main.privateKey, 'POST', '/sessions/authorize', body), 200);
  isStatus(one, await one.call(main.privateKey, 'POST', '/sessions/authorize', body), 409);
}

async function exceedRights(one: Case): Promise<void> {
  const { main } = one.world;
  isStatus(one, await one.call(main.publicKey, 'GET', `/tokens/${main.tokenId}`), 403);
  isStatus(one, await one.call(main.privateKey, 'GET', '/tenants/self'), 403);
  isStatus(one, await one.call(main.maskedKey, 'DELETE', `/tokens/${main.tokenId}`), 403);
  isStatus(one, await one.call(main.manageKey, 'POST', '/tokens', json({ data: 1 })), 403);
  const masked = await one.call(main.maskedKey, 'GET', `/tokens/${main.tokenId}`);
  isStatus(one, masked, 200);
  one.check(!masked.body.includes(`${one.world.secretMark}-0`), 'a key that sees masks alone got the data');
}
