import { storageUnavailable } from '../kernel/errors.js';
import { hostText } from './address.js';
import type { ChangeListener } from './changes.js';
import { listenForChanges, sendEcho } from './changes.js';
import type { ConnectionTarget } from './connection.js';
import { DEFAULT_TIME_BOUNDS, endpointsOf } from './connection.js';
import type { Database } from './database.js';
import { DriverFault } from './faults.js';
import { connectToFitting } from './host-choice.js';

/** What an operator wants to know about a server by address. */
export interface ServerFacts {
  readonly version: string;
  readonly host: string;
  readonly hostsGiven: number;
  readonly isEncrypted: boolean;
}

/** As long as a listener needs to be sure either way. */
const HEARING_WAIT_MS = 4_000;

export async function examineServer(target: ConnectionTarget): Promise<ServerFacts> {
  const endpoints = endpointsOf(target);
  const { client, host } = await connectToFitting(endpoints, DEFAULT_TIME_BOUNDS).catch((error: unknown) => {
    throw storageUnavailable(new DriverFault(error));
  });
  try {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return {
      version: rows[0]?.server_version ?? 'unknown',
      host: hostText(host),
      hostsGiven: endpoints.hosts.length,
      isEncrypted: endpoints.isEncrypted(host),
    };
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whether a notice sent by the service arrives where it would listen. */
export async function hearsNotices(target: ConnectionTarget, database: Database): Promise<boolean> {
  let listener: ChangeListener | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      timer = setTimeout(() => resolve(false), HEARING_WAIT_MS);
      listener = listenForChanges({
        target,
        onChange: () => {},
        onGap: () => {},
        sendEcho: (echo) => sendEcho(database, echo),
        onHeard: () => resolve(true),
        onDeaf: () => resolve(false),
      });
    });
  } finally {
    clearTimeout(timer);
    await listener?.close();
  }
}
