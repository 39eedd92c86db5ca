import { operatorContext } from '../../audit/entry.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { placed, removeTokens, writeChange } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import type { Opener } from '../open/open.js';
import { findWholeTokens } from '../queries.js';
import type { Due } from './due-queries.js';
import { findTenantsWithDue, lockDueTokens } from './due-queries.js';
import { forgetCvc } from './forget-cvc.js';

export interface SweepOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
}

const ROWS_PER_LOOK = 1_000;
const BATCH_ROWS = 200;
const OPEN_AT_ONCE = 8;

/** Erases one batch of tokens whose time is over, for each tenant that has some; returns how many went. */
export function sweepExpiredTokens({ database }: SweepOptions, nowMs: number): Promise<number> {
  return sweep(database, 'expires_at', nowMs, async (tx) => {
    const rows = await lockDueTokens(tx, 'expires_at', nowMs, BATCH_ROWS);
    if (rows.length > 0) await removeTokens(tx, operatorContext(nowMs), rows.map(placed), TOKEN_EVENTS.expired);
    return rows.length;
  });
}

/** Takes verification codes whose hour is over out of one batch of cards a tenant; returns how many. */
export function sweepCvcs({ database, opener, expressions }: SweepOptions, nowMs: number): Promise<number> {
  return sweep(database, 'cvc_expires_at', nowMs, async (tx, tenantId) => {
    const keys = await opener.keysOf(tenantId);
    const due = await lockDueTokens(tx, 'cvc_expires_at', nowMs, BATCH_ROWS);
    let count = 0;
    // A few at a time: a card may come with a large mask.
    for (let at = 0; at < due.length; at += OPEN_AT_ONCE) {
      const ids = due.slice(at, at + OPEN_AT_ONCE).map(({ id }) => id);
      // What does not open was reported, and its code cannot be read by anybody.
      const tokens = await opener.openIntact(tenantId, await findWholeTokens(tx, ids));
      for (const token of tokens) {
        await writeChange(
          tx,
          operatorContext(nowMs),
          token,
          forgetCvc(keys, expressions, token),
          TOKEN_EVENTS.cvc_removed,
        );
      }
      count += tokens.length;
    }
    return count;
  });
}

/** Every batch is a transaction of its own and starts from what is still there, so stopping anywhere loses nothing. */
async function sweep(
  database: Database,
  due: Due,
  nowMs: number,
  sweepTenant: (tx: TenantTx, tenantId: string) => Promise<number>,
): Promise<number> {
  const tenants = await database.survey((tx) => findTenantsWithDue(tx, due, nowMs, ROWS_PER_LOOK));
  let total = 0;
  for (const tenantId of tenants) total += await database.write(tenantId, (tx) => sweepTenant(tx, tenantId));
  return total;
}
