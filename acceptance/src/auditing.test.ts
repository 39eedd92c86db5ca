// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Call } from './client.js';
import { createClient } from './client.js';
import type { StartedServer } from './started-server.js';
import { startServer } from './started-server.js';
import type { Application, Token } from './vault.js';
import { CARD, keyOf, listed, post, TOKEN_PERMISSIONS } from './vault.js';

interface Entry {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly operation: string;
  readonly message: string;
  readonly outcome: string;
}

const isForeign = process.env.ACCEPTANCE_BASE_URL ? 'it needs a server with full auditing' : false;

describe('full auditing', { skip: isForeign }, () => {
  let server: StartedServer;
  let call: Call;
  let management: string;
  let tenantId: string;
  let made: Application;
  let token: Token;
  let card: Token;
  before(async () => {
    server = await startServer({ STRONGROOM_AUDIT: 'full' });
    call = createClient(server.baseUrl);
    tenantId = await server.makeTenant('Audited');
    management = await server.makeKey(tenantId, 'management', [
      ...['tenant:read', 'log:read', 'report:read', 'application:read', 'application:create'],
    ]);
    const rules = [{ priority: 1, container: '/pci/', transform: 'reveal', permissions: TOKEN_PERMISSIONS }];
    const body = { name: 'Cards', type: 'private', rules };
    made = await post<Application>(call, management, '/applications', body);
    const everything = { name: 'All', type: 'private', permissions: TOKEN_PERMISSIONS };
    const full = await post<Application>(call, management, '/applications', everything);
    token = await post<Token>(call, keyOf(full), '/tokens', { data: 'general' });
    card = await post<Token>(call, keyOf(full), '/tokens', { type: 'card', data: CARD, containers: ['/elsewhere/'] });
  });
  after(() => server.stop());

  /** The entries a request has left, apart from those of looking at the log. */
  async function leftBy(request: () => Promise<unknown>): Promise<string[]> {
    const read = async () =>
      listed<Entry>(await call('GET', '/logs?size=1000&include=details', { key: management })).data;
    const before = await read();
    await request();
    const entries = await read();
    return entries
      .slice(0, entries.length - before.length)
      .map((one) => `${one.entity_type} ${one.entity_id} ${one.operation}: ${one.message}, ${one.outcome}`);
  }

  it('a read of a management entity leaves an entry, a list one for all', async () => {
    const get = (path: string) => () => call('GET', path, { key: management });
    assert.deepEqual(await leftBy(get('/tenants/self')), [`tenant ${tenantId} read: Tenant retrieved, success`]);
    assert.deepEqual(await leftBy(get('/applications')), ['application * read: Application listed, success']);
    const one = [`application ${made.id} read: Application retrieved, success`];
    assert.deepEqual(await leftBy(get(`/applications/${made.id}`)), one);
    assert.deepEqual(await leftBy(() => call('GET', '/applications/key', { key: keyOf(made) })), one);
    assert.deepEqual(await leftBy(get('/permissions')), []);
  });

  it('403 leaves an entry that names the entity of the route, for a missing permission and for a rule alike', async () => {
    const refused = (method: string, path: string, key: string, body?: object) => async () => {
      const answer = await call(method, path, { key, ...(body && { body }) });
      assert.equal(answer.status, 403, answer.text);
    };
    const cards = keyOf(made);
    const one = `/tokens/${token.id}`;
    const onToken = [`token ${token.id} denied: Request denied, denied`];
    assert.deepEqual(await leftBy(refused('GET', one, management)), onToken);
    assert.deepEqual(await leftBy(refused('GET', one, cards)), onToken);
    assert.deepEqual(await leftBy(refused('PATCH', one, cards, { data: 1 })), onToken);
    assert.deepEqual(await leftBy(refused('DELETE', one, cards)), onToken);
    const onCard = [`card ${card.id} denied: Request denied, denied`];
    assert.deepEqual(await leftBy(refused('GET', `/tokens/${card.id}`, management)), onCard);
    assert.deepEqual(await leftBy(refused('GET', `/tokens/${card.id}`, cards)), onCard);
    assert.deepEqual(await leftBy(refused('PATCH', `/tokens/${card.id}`, cards, { metadata: { a: 'b' } })), onCard);
    assert.deepEqual(await leftBy(refused('DELETE', `/tokens/${card.id}`, cards)), onCard);
    const onNobody = ['token nobody denied: Request denied, denied'];
    assert.deepEqual(await leftBy(refused('GET', '/tokens/nobody', management)), onNobody);
    const onTokens = ['token * denied: Request denied, denied'];
    assert.deepEqual(await leftBy(refused('POST', '/tokens', cards, { data: 1 })), onTokens);
    assert.deepEqual(await leftBy(refused('POST', '/tokenize', cards, { a: 1 })), onTokens);
    assert.deepEqual(await leftBy(refused('POST', '/detokenize', cards, [`{{ ${token.id} }}`])), onTokens);
    const onApplication = [`application ${made.id} denied: Request denied, denied`];
    assert.deepEqual(await leftBy(refused('DELETE', `/applications/${made.id}`, management)), onApplication);
    const onSessions = ['session * denied: Request denied, denied'];
    assert.deepEqual(await leftBy(refused('POST', '/sessions', cards)), onSessions);
    const onTenant = [`tenant ${tenantId} denied: Request denied, denied`];
    assert.deepEqual(await leftBy(refused('GET', '/tenants/self', cards)), onTenant);
  });

  it('401, 400 and 404 leave none', async () => {
    const left = await leftBy(async () => {
      await call('GET', '/tenants/self');
      await call('GET', '/applications?size=0', { key: management });
      await call('GET', '/applications/nobody', { key: management });
    });
    assert.deepEqual(left, []);
  });
});
