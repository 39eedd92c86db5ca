import type { Answer, Call } from './http-client.js';
import type { TestApp, TestTenant } from './test-app.js';

/** Every path below /applications with the ids of B. */
export async function walkApplications(app: TestApp, b: TestTenant, call: Call): Promise<Answer[]> {
  const { json } = await app.call('GET', '/applications', { key: b.key });
  const answers = [await call('GET', '/applications?size=100'), await call('GET', '/applications/key')];
  for (const { id } of json.data) {
    const [key] = (await app.call('GET', `/applications/${id}/keys`, { key: b.key })).json;
    const body = { name: 'Renamed by A', id, tenant_id: b.id, permissions: ['log:read'] };
    answers.push(
      await call('GET', `/applications?id=${id}`),
      await call('GET', `/applications/${id}`),
      await call('GET', `/applications/${id}/keys`),
      await call('GET', `/applications/${id}/keys/${key.id}`),
      await call('PUT', `/applications/${id}`, { body }),
      await call('POST', `/applications/${id}/keys`),
      await call('POST', `/applications/${id}/regenerate`, { body: { overlap_seconds: 60 } }),
      await call('DELETE', `/applications/${id}/keys/${key.id}`),
      await call('DELETE', `/applications/${id}`),
    );
  }
  return answers;
}

/** A private key of A with the nonce of a session of B. */
export async function authorizeForeign(app: TestApp, a: TestTenant, b: TestTenant): Promise<Answer> {
  const shopOfB = await app.makeKey(b.id, 'public', ['token:create']);
  const { json } = await app.call('POST', '/sessions', { key: shopOfB });
  const key = await app.makeKey(a.id, 'private', ['token:read']);
  return app.call('POST', '/sessions/authorize', { key, body: { nonce: json.nonce, permissions: ['token:read'] } });
}
