import assert from 'node:assert/strict';
import type { Call } from './client.js';
import { post } from './vault.js';

const PASSWORD = 'seventeen acceptance otters';

/** Invites an address, and registers whom it belongs to: the only way to become a member. Gives the id of the user. */
export async function joined(call: Call, key: string, email: string): Promise<string> {
  const { link } = await post<{ link: string }>(call, key, '/tenants/self/invitations', { email, role: 'ADMIN' });
  const { origin, hash } = new URL(link);
  const body = { secret: hash.slice(1), password: PASSWORD, first_name: 'Ada' };
  const registered = await call('POST', '/portal/api/invitations/register', { body, headers: { Origin: origin } });
  assert.equal(registered.status, 200, registered.text);
  return registered.as<{ id: string }>().id;
}
