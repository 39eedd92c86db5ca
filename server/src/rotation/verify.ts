import { IntegrityError, isOpened } from '../crypto/integrity-error.js';
import { findSystemKeys, findTenantKeys } from '../crypto/key-queries.js';
import type { KeyStore } from '../crypto/key-store.js';
import { type RootKeyRing, unwrapByRing } from '../crypto/root-key-ring.js';
import { systemKeyContext } from '../crypto/system-keys.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import { openTenantKeys } from '../crypto/tenant-keys.js';
import type { Database } from '../storage/database.js';
import type { TenantTx } from '../storage/scope.js';
import type { PeopleTable } from '../tables/people-table.js';
import type { TableRecord } from '../tables/table.js';
import type { WalkStep } from '../tables/walk.js';
import { createBatches, retryWhileUnreachable, type Wait } from './retry.js';

export interface Fault {
  /** Undefined for what belongs to the installation. */
  readonly tenantId: string | undefined;
  readonly table: string;
  readonly id: string;
}

export interface VerifyOptions {
  readonly database: Database;
  readonly keyStore: Pick<KeyStore, 'custody' | 'systemKeys'>;
  readonly tables: readonly TableRecord[];
  /** Those of people, who belong to no tenant. */
  readonly peopleTables?: readonly PeopleTable[];
  readonly wait: Wait;
  readonly onFault: (fault: Fault) => void;
  readonly onProgress: (rows: number) => void;
}

export interface Verified {
  readonly tenants: number;
  readonly rows: number;
  readonly faults: number;
}

const BATCH_ROWS = 500;

/** Opens everything that is sealed and changes nothing. The check row was opened by whoever opened the database. */
export async function verifyKeys(options: VerifyOptions, tenantIds: AsyncIterable<string>): Promise<Verified> {
  let [tenants, rows, faults] = [0, 0, 0];
  const tally = (tenantId: string | undefined, table: string, { seen, faults: ids = [] }: WalkStep): void => {
    rows += seen;
    faults += ids.length;
    for (const id of ids) options.onFault({ tenantId, table, id });
    options.onProgress(rows);
  };
  tally(undefined, 'system_keys', await verifySystemKeys(options));
  await verifyPeople(options, (table, step) => tally(undefined, table, step));
  for await (const tenantId of tenantIds) {
    tenants += 1;
    await verifyTenant(options, tenantId, (table, step) => tally(tenantId, table, step));
  }
  return { tenants, rows, faults };
}

async function verifySystemKeys({ database, keyStore, wait }: VerifyOptions): Promise<WalkStep> {
  const rows = await retryWhileUnreachable(wait, () => database.lookUp(findSystemKeys));
  const ring = await keyStore.custody.reload();
  const faults = rows.filter(
    ({ name, wrapped }) => !isOpened(() => unwrapByRing(ring, systemKeyContext(name), wrapped)),
  );
  return { next: undefined, seen: rows.length, faults: faults.map(({ name }) => name) };
}

async function verifyPeople(options: VerifyOptions, tally: (table: string, step: WalkStep) => void): Promise<void> {
  const { rowMac } = options.keyStore.systemKeys;
  for (const { name, verify } of options.peopleTables ?? []) {
    await walk(
      options,
      (step) => tally(name, step),
      (position, limit) => options.database.readPeople((tx) => verify(tx, rowMac, position, limit)),
    );
  }
}

async function verifyTenant(
  options: VerifyOptions,
  tenantId: string,
  tally: (table: string, step: WalkStep) => void,
): Promise<void> {
  const { step, keys } = await verifyTenantKeys(options, tenantId);
  tally('tenant_keys', step);
  for (const { name, sealed } of options.tables) {
    if (sealed === undefined || keys === undefined) continue;
    await walkTenant(
      options,
      tenantId,
      (step) => tally(name, step),
      async (tx, position, limit) => {
        // Read with the rows: while a rotation runs beside us, a batch may be sealed under a key made a moment ago.
        const fresh = await keysFor(options, tx);
        return fresh === undefined ? END : sealed.verify(tx, fresh, position, limit);
      },
    );
  }
  const { rowMac } = options.keyStore.systemKeys;
  for (const { name, macs } of options.tables) {
    if (macs === undefined) continue;
    await walkTenant(
      options,
      tenantId,
      (step) => tally(name, step),
      (tx, position, limit) => macs.verify(tx, rowMac, position, limit),
    );
  }
}

const END: WalkStep = { next: undefined, seen: 0 };

function walkTenant(
  options: VerifyOptions,
  tenantId: string,
  tally: (step: WalkStep) => void,
  look: (tx: TenantTx, position: string, limit: number) => Promise<WalkStep>,
): Promise<void> {
  return walk(options, tally, (position, limit) => options.database.read(tenantId, (tx) => look(tx, position, limit)));
}

async function walk(
  { wait }: VerifyOptions,
  tally: (step: WalkStep) => void,
  look: (position: string, limit: number) => Promise<WalkStep>,
): Promise<void> {
  let position: string | undefined = '';
  const inBatches = createBatches(wait, BATCH_ROWS);
  while (position !== undefined) {
    const from: string = position;
    const lookAgain = () => inBatches((rows) => look(from, rows));
    let step = await lookAgain();
    // A row may have changed hands between the look at the keys and the look at the rows: only a second failure counts.
    if (step.faults?.length) step = onlyRepeated(step, await lookAgain());
    tally(step);
    position = step.next;
  }
}

function onlyRepeated(first: WalkStep, second: WalkStep): WalkStep {
  return { ...second, faults: (second.faults ?? []).filter((id) => first.faults?.includes(id)) };
}

/** Each row by itself, to say which one does not open; then all together, as serving needs them. */
async function verifyTenantKeys({ database, keyStore, wait }: VerifyOptions, tenantId: string) {
  const rows = await retryWhileUnreachable(wait, () => database.read(tenantId, findTenantKeys));
  const ring = await keyStore.custody.reload();
  const faults = rows
    .filter(({ kind: name, version, wrapped }) => {
      return !isOpened(() => unwrapByRing(ring, { scope: 'tenant', tenantId, name, version }, wrapped));
    })
    .map(({ kind, version }) => `${kind}/${version}`);
  const keys = faults.length === 0 && rows.length > 0 ? openAll(ring, tenantId, rows) : undefined;
  const isWhole = keys !== undefined || faults.length > 0 || rows.length === 0;
  const step: WalkStep = { next: undefined, seen: rows.length, faults: isWhole ? faults : ['incomplete'] };
  return { step, keys };
}

async function keysFor({ keyStore }: VerifyOptions, tx: TenantTx): Promise<TenantKeys | undefined> {
  const rows = await findTenantKeys(tx);
  // Deleted while we looked: its rows are nobody's any more.
  return rows.length === 0 ? undefined : openTenantKeys(await keyStore.custody.reload(), tx.tenantId, rows);
}

function openAll(ring: RootKeyRing, tenantId: string, rows: Parameters<typeof openTenantKeys>[2]) {
  try {
    return openTenantKeys(ring, tenantId, rows);
  } catch (error) {
    if (error instanceof IntegrityError) return undefined;
    throw error;
  }
}
