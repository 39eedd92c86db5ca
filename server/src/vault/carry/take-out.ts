import { operatorContext } from '../../audit/entry.js';
import type { KeyStore } from '../../crypto/key-store.js';
import type { Clock } from '../../kernel/clock.js';
import type { Json } from '../../kernel/json.js';
import type { Database } from '../../storage/database.js';
import { recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import { createOpener } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { countTokens } from '../search/list-queries.js';
import type { TokenContent } from '../stored/content.js';
import { fingerprintText } from '../stored/fingerprint.js';
import type { TokenPosition } from '../stored/position.js';
import { hasCvc, withoutCvc } from '../types/cvc.js';
import { findTokensAfter } from './queries.js';

/** A token as it is stored: what its type supplies is left out, and so is a verification code. */
export interface CarriedToken extends TokenContent {
  readonly id: string;
  readonly fingerprint: string | undefined;
  readonly expiresAtMs: number | null;
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly modifiedBy: string | null;
  readonly modifiedAtMs: number | null;
}

export interface CarriedBatch {
  readonly tokens: readonly CarriedToken[];
  /** Ids of tokens that do not open. */
  readonly damaged: readonly string[];
  readonly next: TokenPosition;
}

export interface TakeOut {
  /** How many tokens there are now. */
  count(): Promise<number>;
  /**
   * The next tokens made until `untilMs`, oldest first; undefined when there are no more. Each has its entry "Token
   * retrieved" in the log, durable, before it is given.
   */
  next(after: TokenPosition, untilMs: number, limit: number): Promise<CarriedBatch | undefined>;
}

export interface TakeOutOptions {
  readonly database: Database;
  readonly keyring: KeyStore['keyring'];
  readonly clock: Clock;
  readonly tenantId: string;
}

const BATCH_TOKENS = 200;
const BATCH_BYTES = 8 * 1_048_576;

/** Reads all tokens of a tenant in the operator's name, for whom no access rule holds. */
export function createTakeOut({ database, keyring, clock, tenantId }: TakeOutOptions): TakeOut {
  const opener = createOpener({ database, keyring, onIntegrityFault: () => {} });
  return {
    count: () =>
      database.readReplicated(tenantId, (tx) =>
        countTokens(tx, {
          condition: { kind: 'all' },
          directory: undefined,
          termRows: new Map(),
          nowMs: clock.nowMs(),
        }),
      ),
    async next(after, untilMs, limit) {
      const nowMs = clock.nowMs();
      const page = { after, untilMs, nowMs, limit: Math.min(limit, BATCH_TOKENS), bytesMax: BATCH_BYTES };
      const rows = await database.readReplicated(tenantId, (tx) => findTokensAfter(tx, page));
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      const opened = await opener.openIntact(tenantId, rows);
      if (opened.length > 0) {
        const auditContext = operatorContext(nowMs);
        await database.write(tenantId, (tx) => recordTouched(tx, auditContext, TOKEN_EVENTS.retrieved, opened));
      }
      const intact = new Set(opened.map(({ row }) => row.id));
      return {
        tokens: opened.map(carried),
        damaged: rows.map(({ id }) => id).filter((id) => !intact.has(id)),
        next: { createdAtMs: last.created_at.getTime(), tie: last.tie },
      };
    },
  };
}

/** A verification code stays behind: it may be kept for an hour only, and a file has no clock. */
function carried({ row, content }: OpenRow): CarriedToken {
  return {
    ...content,
    data: withoutCode(content),
    id: row.id,
    fingerprint: row.fingerprint === null ? undefined : fingerprintText(row.fingerprint),
    expiresAtMs: row.expires_at?.getTime() ?? null,
    createdBy: row.created_by,
    createdAtMs: row.created_at.getTime(),
    modifiedBy: row.modified_by,
    modifiedAtMs: row.modified_at?.getTime() ?? null,
  };
}

export function withoutCode({ type, data }: Pick<TokenContent, 'type' | 'data'>): Json {
  return hasCvc(type, data) ? withoutCvc(data) : data;
}
