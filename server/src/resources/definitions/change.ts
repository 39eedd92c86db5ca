import type { AuditContext } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import { record } from '../../audit/record.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { AppError } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import { announce } from '../../storage/changes.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import type { NamedApplication } from '../applications/index.js';
import { NO_SUCH_APPLICATION } from './input.js';
import type { DefinitionKind, DefinitionShape, NamedApplications, Opened, SharedDefinition } from './kind.js';
import type { DefinitionStore } from './store.js';
import { noSuchDefinition } from './store.js';

const VERSIONS_KEPT = 20;

/** A definition held for a change, and the keys of its tenant. */
export interface HeldDefinition<S extends DefinitionShape> extends Opened<S> {
  readonly keys: TenantKeys;
}

export async function hold<S extends DefinitionShape>(
  store: DefinitionStore<S>,
  tx: TenantTx,
  id: string,
): Promise<HeldDefinition<S> | AppError> {
  const row = await store.kind.rows.lock(tx, id);
  if (!row) return noSuchDefinition(store.kind);
  const keys = await store.keysFor(tx.tenantId, [row]);
  return { keys, ...beforeWriting(() => store.open(keys, row)) };
}

/** Code acts on tokens, so as an Application that may hold permissions on them. */
export function isUsable(
  application: NamedApplication,
): application is NamedApplication & { readonly type: 'public' | 'private' } {
  return application.type !== 'management';
}

/** The Application of a definition, by its id; none if it is gone. */
export async function applicationOf<S extends DefinitionShape>(
  { names }: DefinitionStore<S>,
  tx: TenantTx,
  { applicationId }: Pick<SharedDefinition, 'applicationId'>,
  nowMs: number,
): Promise<NamedApplications> {
  const rows = await names.find(tx, applicationId === null ? [] : [applicationId], nowMs);
  return beforeWriting(() => names.verified(rows));
}

/** The refusal of an Application that code cannot act as. */
export function refusedApplication(
  { applicationId }: Pick<SharedDefinition, 'applicationId'>,
  applications: NamedApplications,
  path: string,
): AppError | undefined {
  if (applicationId === null) return undefined;
  const found = applications.get(applicationId);
  return found && isUsable(found) ? undefined : validationFailed({ [path]: [NO_SUCH_APPLICATION] });
}

/** Writes another definition, and keeps the one before as a version. */
export async function writeDefinition<S extends DefinitionShape>(
  kind: DefinitionKind<S>,
  tx: TenantTx,
  auditContext: AuditContext,
  held: HeldDefinition<S>,
  definition: S['definition'],
): Promise<Opened<S>> {
  await keepFormer(kind, tx, held);
  return write(kind, tx, auditContext, held, definition, kind.keptOf(held.content));
}

/** Writes what a held row says from now on. */
export async function write<S extends DefinitionShape>(
  kind: DefinitionKind<S>,
  tx: TenantTx,
  auditContext: AuditContext,
  { keys, row }: HeldDefinition<S>,
  definition: S['definition'],
  kept: S['kept'],
): Promise<Opened<S>> {
  const version = row.version + 1;
  const content = { ...definition, ...kept };
  const next = {
    ...row,
    ...kind.columnsOf(content),
    name: content.name,
    application_id: content.applicationId,
    version,
    sealed: kind.sealing.seal(keys, { ...row, version }, definition, kept),
    modified_by: auditContext.actor?.id ?? null,
    modified_at: new Date(auditContext.atMs),
  };
  await kind.rows.update(tx, next);
  return { row: next, content };
}

/** Keeps what a held row said until now, and no more than the last versions. */
async function keepFormer<S extends DefinitionShape>(
  { versions, sealing }: DefinitionKind<S>,
  tx: TenantTx,
  { keys, row, content }: HeldDefinition<S>,
): Promise<void> {
  const place = { tenant_id: row.tenant_id, definition_id: row.id, version: row.version };
  const isChanged = row.modified_at !== null;
  await versions.insert(tx, {
    ...place,
    sealed: sealing.sealVersion(keys, place, content),
    created_by: isChanged ? row.modified_by : row.created_by,
    created_at: row.modified_at ?? row.created_at,
  });
  await versions.deleteOld(tx, row.id, VERSIONS_KEPT);
}

/** The last words of a change: its log entry, the notice to other processes, and the answer to be repeated. */
export async function concludeChange<S extends DefinitionShape>(
  { notice }: Pick<DefinitionKind<S>, 'notice'>,
  tx: TenantTx,
  auditContext: AuditContext,
  event: LogEvent,
  id: string,
  body: unknown,
): Promise<void> {
  await Promise.all([
    record(tx, auditContext, { event, entityId: id, outcome: 'success' }),
    notice && announce(tx, { kind: notice, tenantId: tx.tenantId }),
  ]);
  await auditContext.keepAnswer?.(tx, body);
}
