import type { Call } from './client.js';
import { createClient } from './client.js';
import { pathOf } from './endpoints.js';
import type { Keys } from './keys.js';
import { KEY_NAMES } from './keys.js';
import { startServer } from './started-server.js';

/** The service under test: an address and keys, nothing else is known of it. */
export interface Subject {
  readonly call: Call;
  readonly keys: Keys;
  /** Which endpoints answered with which status so far: `GET /tokens/{id} 200`. */
  readonly seen: ReadonlySet<string>;
  close(): Promise<void>;
}

/** A server that others run must be set up the same way. Rate limits have a suite of their own. */
const SETTINGS = { STRONGROOM_HEADER_PREFIXES: 'SVC,BT', STRONGROOM_RATE_LIMITS: 'off' };

/** A server that is already running, where the environment names one; else one that is started here. */
export async function openSubject(): Promise<Subject> {
  const seen = new Set<string>();
  const onAnswer = (method: string, address: string, status: number): void => {
    seen.add(`${method} ${pathOf(address)} ${status}`);
  };
  const baseUrl = process.env.ACCEPTANCE_BASE_URL;
  if (baseUrl === undefined || baseUrl === '') {
    const server = await startServer(SETTINGS);
    const call = createClient(server.baseUrl, onAnswer);
    return { call, keys: await server.makeKeys(), seen, close: server.stop };
  }
  const given: Partial<Record<string, string>> = JSON.parse(process.env.ACCEPTANCE_KEYS ?? '{}');
  const keys = Object.fromEntries(
    KEY_NAMES.map((name) => {
      const key = given[name];
      if (key === undefined) throw new Error(`ACCEPTANCE_KEYS has no key named ${name}`);
      return [name, key];
    }),
  ) as Keys; // One entry a name, each checked above.
  const call = createClient(baseUrl.replace(/\/$/, ''), onAnswer);
  return { call, keys, seen, close: async () => {} };
}
