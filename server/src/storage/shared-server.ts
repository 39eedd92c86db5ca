import { setTimeout as rest } from 'node:timers/promises';
import pg from 'pg';
import type { SocketTarget } from './connection.js';
import { clientConfig, DEFAULT_TIME_BOUNDS } from './connection.js';

/** Told from every other connection by its name. */
const PRESENCE = 'strongroom beside';
const REST_MS = 200;

/**
 * Stays connected for as long as a command uses a server that another process has started: its pool may be empty for
 * half a minute while it waits for something. Undefined when the server is just going away.
 */
export async function announcePresence(owner: SocketTarget): Promise<{ end(): Promise<void> } | undefined> {
  const client = clientFor(owner, PRESENCE);
  try {
    await client.connect();
  } catch {
    return undefined;
  }
  return { end: () => client.end().catch(() => {}) };
}

/** Resolves once nobody has joined the server, or it cannot be asked. */
export async function untilAlone(owner: SocketTarget, onWait: () => void): Promise<void> {
  const client = clientFor(owner, 'strongroom');
  try {
    await client.connect();
    for (let looks = 0; await isJoined(client); looks += 1) {
      if (looks === 0) onWait();
      await rest(REST_MS);
    }
  } catch {
    // It is gone already: nobody can be using it.
  } finally {
    await client.end().catch(() => {});
  }
}

async function isJoined(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE application_name = $1 LIMIT 1', [PRESENCE]);
  return rows.length > 0;
}

function clientFor(owner: SocketTarget, name: string): pg.Client {
  const client = new pg.Client({ ...clientConfig(owner, DEFAULT_TIME_BOUNDS), application_name: name });
  client.on('error', () => {});
  return client;
}
