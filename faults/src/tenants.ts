import { call } from './call.js';
import type { Settings } from './product.js';
import { command } from './product.js';

/** A tenant of the load, with a key for its management and one that sees all of its tokens. */
export interface LoadTenant {
  readonly index: number;
  readonly id: string;
  readonly managementKey: string;
  readonly tokenKey: string;
}

const MANAGEMENT = [
  ...['tenant:read', 'tenant:update', 'log:read', 'report:read'],
  ...['application:read', 'application:create', 'application:update', 'application:delete'],
  ...['reactor:read', 'reactor:create'],
];
const TOKENS = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use'];
const MAKE_MAX_MS = 30_000;

/** Made as an operator would: tenant and first application by command, the rest through the API. */
export async function makeTenant(settings: Settings, port: number, index: number): Promise<LoadTenant> {
  const id = await command(settings, 'tenant', 'create', '--name', `tenant ${index}`);
  const flags = MANAGEMENT.flatMap((permission) => ['--permission', permission]);
  const words = ['application', 'create', '--tenant', id, '--type', 'management', ...flags, '--json'];
  const { key: managementKey } = keyIn(JSON.parse(await command(settings, ...words)));
  const made = await call({
    port,
    method: 'POST',
    path: '/applications',
    key: managementKey,
    trace: `set-up-${index}`,
    body: {
      name: 'load',
      type: 'private',
      rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: TOKENS }],
    },
    timeoutMs: MAKE_MAX_MS,
  });
  if (made.kind !== 'answered' || made.status !== 201) throw new Error(`no application: ${JSON.stringify(made)}`);
  return { index, id, managementKey, tokenKey: keyIn(made.body).key };
}

function keyIn(body: unknown): { key: string } {
  if (typeof body === 'object' && body !== null && 'key' in body && typeof body.key === 'string') {
    return { key: body.key };
  }
  throw new Error('an answer without a key');
}
