import type { IntegrityStory } from '../../../access/credential.js';
import { parseRules } from '../../../access/grants.js';
import { isRightsMacValid } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import type { LogEvent } from '../../../audit/events.js';
import { record } from '../../../audit/record.js';
import type { SystemKeys } from '../../../crypto/system-keys.js';
import { AppError, storageUnavailable } from '../../../kernel/errors.js';
import { isUuid } from '../../../kernel/ids.js';
import { createKeyedLock } from '../../../kernel/keyed-lock.js';
import { announce } from '../../../storage/changes.js';
import type { Database } from '../../../storage/database.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { ApplicationRow } from '../queries.js';
import { rightsOf } from './create.js';

/** A line of the operator's security log. It never holds a key. */
export interface SecurityStory {
  readonly event: LogEvent;
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId?: string;
  readonly before?: ShownRights;
  readonly after?: ShownRights;
}

/** Rights in words an operator reads: permission names, and `/pci/ reveal token:use` for a rule. */
export interface ShownRights {
  readonly permissions: readonly string[];
  readonly rules: readonly string[];
  readonly expiresAt: Date | null;
}

/** What whoever changes rights has to tell the rest of the process. */
export interface AccessHooks {
  /** Drops what this process remembers of a tenant's credentials, before the answer goes out. */
  readonly forgetAccess: (tenantId: string) => void;
  readonly onSecurity: (story: SecurityStory, auditContext: AuditContext) => void;
  readonly onIntegrityFault: (story: IntegrityStory) => void;
}

export interface ChangesOptions extends AccessHooks {
  readonly database: Database;
  readonly systemKeys: SystemKeys;
}

/** What a change leads to: its answer and its line in the security log, or the reason it was refused. */
export type ChangeOutcome<T> = { readonly body: T; readonly story?: Omit<SecurityStory, 'tenantId'> } | AppError;

export interface Changes {
  /**
   * Runs a change of one Application. A refusal is handed back, not thrown: nothing was written, so the changes of
   * others that share the transaction need not be rolled back for it.
   */
  run<T>(
    tenantId: string,
    applicationId: string,
    auditContext: AuditContext,
    work: (tx: TenantTx) => Promise<ChangeOutcome<T>>,
  ): Promise<T>;
  /** Throws unless the row is as the product wrote it. */
  verify(row: ApplicationRow): ApplicationRow;
}

export function createChanges(options: ChangesOptions): Changes {
  const { database, systemKeys } = options;
  // Members of one batch share a transaction, where a row lock keeps nobody out; so changes of the same Application
  // take turns here, and the lock keeps out other processes.
  const inTurn = createKeyedLock();

  return {
    async run(tenantId, applicationId, auditContext, work) {
      // By tenant as well: nobody waits because a stranger keeps asking about the same id.
      const outcome = await inTurn(`${tenantId} ${applicationId}`, async () => {
        let isRefused = false;
        try {
          const ended = await database.write(tenantId, work);
          isRefused = ended instanceof AppError;
          return ended;
        } finally {
          // Also when nobody can say whether the commit went through; not when it is known that nothing was changed.
          if (!isRefused) options.forgetAccess(tenantId);
        }
      });
      if (outcome instanceof AppError) throw outcome;
      if (outcome.story) options.onSecurity({ ...outcome.story, tenantId }, auditContext);
      return outcome.body;
    },
    verify(row) {
      if (isRightsMacValid(systemKeys.rowMac, rightsOf(row), row.mac)) return row;
      options.onIntegrityFault({ tenantId: row.tenant_id, applicationId: row.id });
      throw storageUnavailable(new Error('the rights of this application were changed outside the product'));
    },
  };
}

/** The last words of a change: its log entry, the notice to other processes, the answer to be repeated. */
export async function conclude(
  tx: TenantTx,
  auditContext: AuditContext,
  event: LogEvent,
  applicationId: string,
  body: unknown,
): Promise<void> {
  await Promise.all([
    record(tx, auditContext, { event, entityId: applicationId, outcome: 'success' }),
    announce(tx, { kind: 'access', tenantId: tx.tenantId }),
  ]);
  await auditContext.keepAnswer?.(tx, body);
}

export function shownRights({ permissions, rules, expires_at }: ApplicationRow): ShownRights {
  return {
    permissions,
    rules: parseRules(rules).map(
      (rule) => `${rule.container ?? 'conditions'} ${rule.transform} ${rule.permissions.join(',')}`,
    ),
    expiresAt: expires_at,
  };
}

/** An id in the one spelling ids are stored in; what is none names nothing. */
export function idOf(text: string | undefined): string {
  if (text === undefined || !isUuid(text)) throw noSuchApplication();
  return text.toLowerCase();
}

export function noSuchApplication(): AppError {
  return new AppError('not_found', 'There is no such Application. GET /applications lists those there are.');
}

export function noSuchKey(): AppError {
  return new AppError('not_found', 'The Application has no such key. GET its keys for those there are.');
}
