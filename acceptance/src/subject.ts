import type { Call } from './client.js';
import { createClient } from './client.js';
import { startServer } from './started-server.js';

/** Keys of Applications in three fresh Tenants, each with what its name says. */
export const KEY_NAMES = [
  /** Every management permission. */
  'management',
  /** tenant:read, log:read and report:read of the same Tenant. */
  'readOnly',
  /** A management Application without any permission the specified endpoints ask for. */
  'unrelated',
  /** A public and a private Application of the same Tenant. */
  'public',
  'private',
  /** Every management permission in another Tenant. */
  'otherTenantManagement',
  /** Every management permission in a Tenant that will be deleted, and a reader there. */
  'disposableManagement',
  'disposableReadOnly',
] as const;

export type Keys = Readonly<Record<(typeof KEY_NAMES)[number], string>>;

/** The service under test: an address and keys, nothing else is known of it. */
export interface Subject {
  readonly call: Call;
  readonly keys: Keys;
  close(): Promise<void>;
}

/** A server that is already running, where the environment names one; else one that is started here. */
export async function openSubject(): Promise<Subject> {
  const baseUrl = process.env.ACCEPTANCE_BASE_URL;
  if (baseUrl === undefined || baseUrl === '') {
    const server = await startServer();
    return { call: createClient(server.baseUrl), keys: await server.makeKeys(), close: server.stop };
  }
  const given: Partial<Record<string, string>> = JSON.parse(process.env.ACCEPTANCE_KEYS ?? '{}');
  const keys = Object.fromEntries(
    KEY_NAMES.map((name) => {
      const key = given[name];
      if (key === undefined) throw new Error(`ACCEPTANCE_KEYS has no key named ${name}`);
      return [name, key];
    }),
  ) as Keys; // One entry a name, each checked above.
  return { call: createClient(baseUrl.replace(/\/$/, '')), keys, close: async () => {} };
}
