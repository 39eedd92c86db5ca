import assert from 'node:assert/strict';
import type { Destination } from './compatibility-destination.js';
import { startDestination } from './compatibility-destination.js';
import type { StartedServer } from './started-server.js';
import { startServer } from './started-server.js';

/** A server set up for clients of the reference API, seen from such a client: an address and keys. */
export interface Reference {
  readonly baseUrl: string;
  /** Every management permission, in a Tenant for each client package. */
  readonly managementKeys: Readonly<Record<ClientPackage, string>>;
  /** Another company that the server may reach. */
  readonly destination: Destination | undefined;
  close(): Promise<void>;
}

export type ClientPackage = 'nodeSdk' | 'js';

const MANAGEMENT = [
  'tenant:read',
  'tenant:update',
  'tenant:delete',
  'application:read',
  'application:create',
  'application:update',
  'application:delete',
  'log:read',
  'report:read',
  'reactor:read',
  'reactor:create',
  'reactor:update',
  'reactor:delete',
  'proxy:read',
  'proxy:create',
  'proxy:update',
  'proxy:delete',
  ...['read', 'update', 'delete'].map((verb) => `tenant:member:${verb}`),
  ...['create', 'read', 'update', 'delete'].map((verb) => `tenant:invitation:${verb}`),
];

export async function openReference(): Promise<Reference> {
  const destination = await startDestination();
  const server = await startServer({
    ...destination.settings,
    STRONGROOM_HEADER_PREFIXES: 'SVC,BT',
    STRONGROOM_REACTOR_MODULES: '@basis-theory/basis-theory-reactor-errors=strongroom-errors',
  }).catch(async (error: unknown) => {
    // It would keep the process of the tests alive.
    await destination.close();
    throw error;
  });
  const [nodeSdk, js] = await Promise.all(['One', 'Two'].map((name) => makeKey(server, name)));
  return {
    // One of the packages speaks plain HTTP to this very name alone.
    baseUrl: server.baseUrl.replace('127.0.0.1', 'localhost'),
    managementKeys: { nodeSdk: given(nodeSdk), js: given(js) },
    destination,
    async close() {
      await server.stop();
      await destination.close();
    },
  };
}

async function makeKey(server: StartedServer, tenant: string): Promise<string> {
  return server.makeKey(await server.makeTenant(tenant), 'management', MANAGEMENT);
}

/** What a client's types call optional and our answers always have. */
export function given<T>(value: T | undefined): T {
  assert.ok(value !== undefined, 'the field is there');
  return value;
}
