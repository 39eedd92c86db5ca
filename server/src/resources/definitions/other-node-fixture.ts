import { Writable } from 'node:stream';
import type { Caches } from '../../caches.js';
import { createCaches } from '../../caches.js';
import { readConfig } from '../../config.js';
import type { KeyStore } from '../../crypto/key-store.js';
import { openKeyStore } from '../../crypto/key-store.js';
import { systemClock } from '../../kernel/clock.js';
import { createLargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { createDatabase } from '../../storage/database.js';
import { createProcessLog } from '../../telemetry/process-log.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { rootKeyOf } from '../../testing/test-app.js';

/** Another node than the one that takes the requests, on the same database. */
export interface OtherNode {
  readonly database: Database;
  readonly caches: Caches;
  readonly keyStore: KeyStore;
  /** What every store of definitions takes. */
  readonly parts: ReturnType<typeof partsOf>;
  /** How often it asked the database for a row. */
  readonly looks: () => number;
  close(): Promise<void>;
}

export async function startOtherNode(app: TestApp): Promise<OtherNode> {
  const opened = createDatabase({ target: app.db.target, isDistributed: app.db.isDistributed, clock: systemClock });
  let looks = 0;
  const database: Database = {
    ...opened,
    read: (tenantId, work) => {
      looks += 1;
      return opened.read(tenantId, work);
    },
    readCredential: (work) => {
      looks += 1;
      return opened.readCredential(work);
    },
  };
  const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
  const log = createProcessLog({ level: 'silent', destination: new Writable({ write: (_, __, done) => done() }) });
  const caches = createCaches({ config: readConfig({}), core: { database, keyStore, target: app.db.target }, log });
  await eventually('the node hears of changes', () => caches.isHearing());
  return {
    database,
    caches,
    keyStore,
    parts: partsOf(database, keyStore),
    looks: () => looks,
    async close() {
      await caches.close();
      await database.close();
    },
  };
}

function partsOf(database: Database, keyStore: KeyStore) {
  const nothing = () => {};
  return {
    ...{ database, ...keyStore, largeWork: createLargeWork() },
    ...{ forgetAccess: nothing, onSecurity: nothing, onIntegrityFault: nothing },
  };
}
