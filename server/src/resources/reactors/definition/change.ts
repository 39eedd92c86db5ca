import type { AuditContext } from '../../../audit/entry.js';
import type { LogEvent } from '../../../audit/events.js';
import { record } from '../../../audit/record.js';
import { LOWER_CASE_ALPHANUMERICS, randomText } from '../../../crypto/random-text.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { type AppError, validationFailed } from '../../../kernel/errors.js';
import type { TenantTx } from '../../../storage/scope.js';
import { beforeWriting } from '../../../storage/unwritten.js';
import type { NamedApplication } from '../../applications/index.js';
import { lockReactor, updateReactor } from '../queries.js';
import { deleteOldReactorVersions, insertReactorVersion } from '../versions/queries.js';
import type { OpenedReactor } from './body.js';
import { isUsable } from './body.js';
import type { ReactorContent, ReactorDefinition } from './content.js';
import { sealReactor, sealVersion } from './content.js';
import { NO_SUCH_APPLICATION } from './input.js';
import type { ReactorStore } from './store.js';
import { noSuchReactor } from './store.js';

const VERSIONS_KEPT = 20;
/** 206 bits. */
const SECRET_LENGTH = 40;

export function newCallbackSecret(): string {
  return `rcs_${randomText(LOWER_CASE_ALPHANUMERICS, SECRET_LENGTH)}`;
}

/** A Reactor held for a change, and the keys of its tenant. */
export interface HeldReactor extends OpenedReactor<ReactorContent> {
  readonly keys: TenantKeys;
}

export async function holdReactor(store: ReactorStore, tx: TenantTx, id: string): Promise<HeldReactor | AppError> {
  const row = await lockReactor(tx, id);
  if (!row) return noSuchReactor();
  const keys = await store.keysFor(tx.tenantId, [row]);
  return { keys, ...beforeWriting(() => store.open(keys, row)) };
}

/** The Application of a definition, by its id; none if it is gone. */
export async function applicationOf(
  store: ReactorStore,
  tx: TenantTx,
  { applicationId }: Pick<ReactorDefinition, 'applicationId'>,
  nowMs: number,
): Promise<ReadonlyMap<string, NamedApplication>> {
  const rows = await store.names.find(tx, applicationId === null ? [] : [applicationId], nowMs);
  return beforeWriting(() => store.names.verified(rows));
}

/** The refusal of an Application that code cannot act as. */
export function refusedApplication(
  { applicationId }: Pick<ReactorDefinition, 'applicationId'>,
  applications: ReadonlyMap<string, NamedApplication>,
): AppError | undefined {
  if (applicationId === null) return undefined;
  const found = applications.get(applicationId);
  return found && isUsable(found) ? undefined : validationFailed({ 'application.id': [NO_SUCH_APPLICATION] });
}

/** Writes another definition, and keeps the one before as a version. */
export async function writeDefinition(
  tx: TenantTx,
  auditContext: AuditContext,
  held: HeldReactor,
  definition: ReactorDefinition,
): Promise<OpenedReactor<ReactorContent>> {
  await keepFormer(tx, held);
  const { callbackSecret } = held.content;
  return writeReactor(tx, auditContext, held, { ...definition, callbackSecret });
}

/** Writes what a held Reactor says from now on. */
export async function writeReactor(
  tx: TenantTx,
  auditContext: AuditContext,
  { keys, row }: HeldReactor,
  content: ReactorContent,
): Promise<OpenedReactor<ReactorContent>> {
  const version = row.version + 1;
  const next = {
    ...row,
    name: content.name,
    application_id: content.applicationId,
    version,
    sealed: sealReactor(keys, { ...row, version }, content),
    modified_by: auditContext.actor?.id ?? null,
    modified_at: new Date(auditContext.atMs),
  };
  await updateReactor(tx, next);
  return { row: next, content };
}

/** Keeps what a held Reactor said until now, and no more than the last versions. */
async function keepFormer(tx: TenantTx, { keys, row, content }: HeldReactor): Promise<void> {
  const place = { tenant_id: row.tenant_id, reactor_id: row.id, version: row.version };
  const isChanged = row.modified_at !== null;
  await insertReactorVersion(tx, {
    ...place,
    sealed: sealVersion(keys, place, content),
    created_by: isChanged ? row.modified_by : row.created_by,
    created_at: row.modified_at ?? row.created_at,
  });
  await deleteOldReactorVersions(tx, row.id, VERSIONS_KEPT);
}

/** The last words of a change: its log entry, and the answer to be repeated. */
export async function concludeReactor(
  tx: TenantTx,
  auditContext: AuditContext,
  event: LogEvent,
  reactorId: string,
  body: unknown,
): Promise<void> {
  await record(tx, auditContext, { event, entityId: reactorId, outcome: 'success' });
  await auditContext.keepAnswer?.(tx, body);
}
