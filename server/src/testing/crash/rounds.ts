import { randomInt } from 'node:crypto';
import { generateApiKey } from '../../access/api-key.js';
import { permissionsOf } from '../../access/permissions.js';
import { operatorContext } from '../../audit/entry.js';
import { readConfig } from '../../config.js';
import { openCore } from '../../core.js';
import { makeFirstTenant } from '../../first-start.js';
import { systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { Secret } from '../../kernel/secret.js';
import { createApplication } from '../../resources/applications/index.js';
import { createTenant, tenantMaker } from '../../resources/tenants/index.js';
import type { Journal } from './journal.js';

const DEFAULT_ROUNDS = 5;

/** How often to kill the API. */
export function apiRounds(): number {
  return Number(process.env.CRASH_ROUNDS ?? DEFAULT_ROUNDS);
}

/** How often to kill the embedded server. */
export function serverRounds(): number {
  return Math.ceil(apiRounds() / 2);
}

export interface Chance {
  readonly seed: number;
  /** A whole number from 0 up to, not including, the bound. */
  below(bound: number): number;
}

/** Random moments that can be had again: the seed of a failed run goes into CRASH_SEED. */
export function createChance(): Chance {
  const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));
  let state = seed;
  return {
    seed,
    below(bound) {
      // mulberry32: small, and good enough to spread moments.
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
    },
  };
}

const OTHER_TENANTS = 3;

/** A folder with several tenants, and a key of each: their updates then share transactions. */
export async function prepareFolder(dataDir: string): Promise<string[]> {
  const config = readConfig({ STRONGROOM_DATA_DIR: dataDir });
  const nobody = (): void => {};
  const core = await openCore({
    config,
    clock: systemClock,
    command: 'tests',
    log: nobody,
    onLost: nobody,
    mayCreate: true,
  });
  try {
    const keys = [generateApiKey('management').reveal()];
    await makeFirstTenant(core, systemClock, keys[0] === undefined ? undefined : new Secret(keys[0]));
    for (let count = 0; count < OTHER_TENANTS; count += 1) {
      const [tenantId, ownerId] = [newId(), newId()];
      const auditContext = operatorContext(systemClock.nowMs());
      const maker = await tenantMaker(core.keyStore);
      const { key } = await core.database.write(tenantId, async (tx) => {
        await createTenant(tx, maker, auditContext, { name: 'Under load', ownerId, isNewOwner: true });
        const application = { name: 'Writer', type: 'management', permissions: permissionsOf('management') } as const;
        return createApplication(tx, core.keyStore.systemKeys, auditContext, application);
      });
      keys.push(key.reveal());
    }
    return keys;
  } finally {
    await core.close();
  }
}

/** One line for whoever watches, with the seed that repeats the run. */
export function tellRounds(what: string, { seed }: Chance, journal: Journal): void {
  const statuses = [...journal.statuses].map(([status, count]) => `${status || 'no answer'}: ${count}`).join(', ');
  const slowest = `slowest answer ${Math.round(journal.slowestMs)} ms`;
  process.stderr.write(`${what}; ${statuses}; ${slowest}; CRASH_SEED=${seed}\n`);
}
