import { IntegrityError } from '../crypto/integrity-error.js';
import { AppError } from '../kernel/errors.js';
import { retryWhileUnreachable } from './retry.js';
import type { Begun, Pass, RotationOptions } from './rotate-tenant.js';
import { beginRotation, finish, SETTLE_MS, stagesOf, walkTable } from './rotate-tenant.js';

export type RotationPhase = 'sealing' | 'waiting' | 'checking';

export interface RotationProgress {
  readonly phase: RotationPhase;
  readonly tenantsBegun: number;
  readonly tenantsFinished: number;
  /** Rows looked at in this phase so far, and about how many there will be. */
  readonly rows: number;
  readonly rowsTotal: number;
}

export interface TenantFault {
  readonly tenantId: string;
  readonly table: string;
  readonly id: string;
}

export interface RotationSummary {
  /** Tenants whose old keys are gone. */
  readonly finished: number;
  /** Tenants whose rotation an earlier run began. */
  readonly resumed: number;
  readonly rows: number;
  readonly faults: readonly TenantFault[];
}

interface Pending {
  readonly rotation: Begun;
  /** When the last old key or row could have been taken. */
  readonly quietSinceMs: number;
}

export interface RotateTenantsOptions extends RotationOptions {
  /** Leave tenants alone whose key is younger. */
  readonly madeBeforeMs?: number | undefined;
  readonly onProgress: (progress: RotationProgress) => void;
}

/**
 * Rotates the encryption keys of the tenants. All rows of all tenants are sealed anew first; then, tenant by tenant, one
 * walk that began long enough after the last change and found nothing old is the proof that the old key may go. So the
 * wait is one for all of them, not one for each.
 */
export async function rotateTenants(
  options: RotateTenantsOptions,
  tenantIds: AsyncIterable<string>,
): Promise<RotationSummary> {
  const { clock } = options;
  const pending: Pending[] = [];
  const faults: TenantFault[] = [];
  let [tenants, resumed, finished, rowsTotal, seen, rows] = [0, 0, 0, 0, 0, 0];
  const report = (phase: RotationPhase) =>
    options.onProgress({ phase, tenantsBegun: tenants, tenantsFinished: finished, rows: seen, rowsTotal });
  const take = async (phase: RotationPhase, rotation: Begun, isFirst: boolean): Promise<Pass> => {
    const pass = await walkTable(options, rotation, isFirst, (count) => {
      seen += count;
      report(phase);
    });
    rows += pass.resealed;
    return pass;
  };

  for await (const tenantId of tenantIds) {
    if (!(await doKeysOpen(options, tenantId))) {
      faults.push({ tenantId, table: 'tenant_keys', id: '' });
      continue;
    }
    const rotation = await beginRotation(options, tenantId, options.madeBeforeMs);
    if (!rotation) continue;
    tenants += 1;
    if (rotation.isResumed) resumed += 1;
    rowsTotal += await countRows(options, tenantId);
    // What does not open is looked at once more, and reported, by the check.
    await take('sealing', rotation, true);
    pending.push({ rotation, quietSinceMs: clock.monotonicMs() });
  }

  seen = 0;
  // A queue: a tenant in which something old was found goes to its end.
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const { rotation, quietSinceMs } = next;
    for (;;) {
      const restMs = quietSinceMs + SETTLE_MS - clock.monotonicMs();
      if (restMs <= 0) break;
      report('waiting');
      await options.wait(Math.ceil(restMs));
    }
    const pass = await take('checking', rotation, false);
    if (pass.resealed > 0) {
      pending.push({ rotation, quietSinceMs: clock.monotonicMs() });
    } else if (pass.faults.length > 0) {
      faults.push(...pass.faults.map((fault) => ({ tenantId: rotation.tenantId, ...fault })));
    } else {
      await finish(options, rotation);
      finished += 1;
      report('checking');
    }
  }
  return { finished, resumed, rows, faults };
}

/** A tenant whose keys are damaged gets no new one: it has to be mended first. A deleted one is no fault. */
async function doKeysOpen({ keyStore, wait }: RotationOptions, tenantId: string): Promise<boolean> {
  try {
    await retryWhileUnreachable(wait, async () => keyStore.keyring.forTenant(tenantId));
    return true;
  } catch (error) {
    if (error instanceof IntegrityError) return true;
    if (error instanceof AppError && error.cause instanceof IntegrityError) return false;
    throw error;
  }
}

async function countRows(options: RotationOptions, tenantId: string): Promise<number> {
  const counters = stagesOf(options).flatMap(({ sealed: { count } }) => (count ? [count] : []));
  const counts = await retryWhileUnreachable(options.wait, () =>
    options.database.read(tenantId, (tx) => Promise.all(counters.map((count) => count(tx)))),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
