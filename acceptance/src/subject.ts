import type { Call } from './client.js';
import { createClient } from './client.js';
import type { Keys } from './keys.js';
import { KEY_NAMES } from './keys.js';
import { startServer } from './started-server.js';

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
