import { generateApiKey } from '../../../access/api-key.js';
import type { ApplicationType } from '../../../access/permissions.js';
import { isKeyMacValid, keyMac } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import { storageUnavailable, validationFailed } from '../../../kernel/errors.js';
import type { TenantTx } from '../../../storage/scope.js';
import { beforeWriting } from '../../../storage/unwritten.js';
import { applicationBodyOf, keyBodyOf, keyNameOf } from '../definition/body.js';
import type { ChangeOutcome, Changes, ChangesOptions } from '../definition/changes.js';
import { conclude, idOf, noSuchApplication, noSuchKey } from '../definition/changes.js';
import { storeKey } from '../definition/create.js';
import { APPLICATION_EVENTS } from '../events.js';
import { findApplicationById, lockApplicationById } from '../queries.js';
import type {
  ApplicationKeyBody,
  ApplicationKeysQuery,
  ApplicationRegenerate,
  ApplicationWithKeyBody,
  NewApplicationKeyBody,
} from '../schema.js';
import { endKeys, endSessionsWithoutKey } from './end.js';
import type { ApiKeyRow } from './queries.js';
import { deleteOtherApiKeys, limitApiKey, listApiKeys, listDeadApiKeys } from './queries.js';

/** The keys of an Application. */
export interface KeyCalls {
  /** A new key in place of all earlier ones. */
  regenerate(
    tenantId: string,
    auditContext: AuditContext,
    id: string | undefined,
    input: ApplicationRegenerate,
  ): Promise<ApplicationWithKeyBody>;
  /** A further key beside the others. */
  add(tenantId: string, auditContext: AuditContext, id: string | undefined): Promise<NewKey>;
  list(
    tenantId: string,
    id: string | undefined,
    query: ApplicationKeysQuery,
    nowMs: number,
  ): Promise<ApplicationKeyBody[]>;
  get(tenantId: string, id: string | undefined, keyId: string | undefined, nowMs: number): Promise<ApplicationKeyBody>;
  revoke(
    tenantId: string,
    auditContext: AuditContext,
    id: string | undefined,
    keyId: string | undefined,
  ): Promise<void>;
}

/** Together with where it belongs, for the address of the answer; that member is not shown. */
export interface NewKey extends NewApplicationKeyBody {
  readonly applicationId: string;
}

const KEYS_MAX = 10;

export function createKeyCalls(options: ChangesOptions, changes: Changes): KeyCalls {
  return { ...readsOf(options), ...changesOf(options, changes) };
}

function readsOf({ database }: ChangesOptions): Pick<KeyCalls, 'list' | 'get'> {
  async function listAll(tenantId: string, given: string | undefined, nowMs: number): Promise<ApplicationKeyBody[]> {
    const id = idOf(given);
    const [application, keys] = await database.read(tenantId, (tx) =>
      Promise.all([findApplicationById(tx, id, nowMs), listApiKeys(tx, id, nowMs)]),
    );
    if (!application) throw noSuchApplication();
    return keys.map(keyBodyOf);
  }

  return {
    async list(tenantId, id, query, nowMs) {
      // What is no id names no key, so it narrows the list like an id nobody has.
      const ids = query.id && new Set(query.id.map((given) => given.toLowerCase()));
      return (await listAll(tenantId, id, nowMs)).filter((key) => ids === undefined || ids.has(key.id));
    },

    async get(tenantId, id, given, nowMs) {
      const keys = await listAll(tenantId, id, nowMs);
      const key = keys.find((candidate) => candidate.id === given?.toLowerCase());
      if (!key) throw noSuchKey();
      return key;
    },
  };
}

function changesOf(options: ChangesOptions, changes: Changes): Pick<KeyCalls, 'regenerate' | 'add' | 'revoke'> {
  const { systemKeys } = options;
  return {
    async regenerate(tenantId, auditContext, given, { overlap_seconds: overlapSeconds = 0 }) {
      const id = idOf(given);
      return changes.run(tenantId, id, auditContext, (tx) =>
        replaceKeys(tx, options, changes, auditContext, id, overlapSeconds),
      );
    },

    async add(tenantId, auditContext, given) {
      const id = idOf(given);
      return changes.run<NewKey>(tenantId, id, auditContext, async (tx) => {
        const found = await lockApplicationById(tx, id, auditContext.atMs);
        if (!found) return noSuchApplication();
        const application = beforeWriting(() => changes.verify(found));
        const live = await listApiKeys(tx, id, auditContext.atMs);
        if (live.length >= KEYS_MAX) {
          return validationFailed({ $: [`the Application has ${KEYS_MAX} keys already; revoke one first`] });
        }
        await endKeys(tx, systemKeys, auditContext, id, await listDeadApiKeys(tx, id, auditContext.atMs));
        const key = generateApiKey(application.type as ApplicationType); // The column takes no other value.
        const row = await storeKey(tx, systemKeys, auditContext, id, key);
        const body = { ...keyNameOf(row), key: key.reveal(), applicationId: id };
        await conclude(tx, auditContext, APPLICATION_EVENTS.key_added, id, body);
        return { body, story: { event: APPLICATION_EVENTS.key_added, applicationId: id, keyId: row.id } };
      });
    },

    async revoke(tenantId, auditContext, given, givenKey) {
      const id = idOf(given);
      return changes.run<void>(tenantId, id, auditContext, async (tx) => {
        if (!(await lockApplicationById(tx, id, auditContext.atMs))) return noSuchApplication();
        const keys = await listApiKeys(tx, id, auditContext.atMs);
        const key = keys.find((candidate) => candidate.id === givenKey?.toLowerCase());
        if (!key) return noSuchKey();
        await endKeys(tx, systemKeys, auditContext, id, [key]);
        await conclude(tx, auditContext, APPLICATION_EVENTS.key_revoked, id, undefined);
        return { body: undefined, story: { event: APPLICATION_EVENTS.key_revoked, applicationId: id, keyId: key.id } };
      });
    },
  };
}

/** A new key; the earlier ones end now, or after the overlap. */
async function replaceKeys(
  tx: TenantTx,
  options: ChangesOptions,
  changes: Changes,
  auditContext: AuditContext,
  id: string,
  overlapSeconds: number,
): Promise<ChangeOutcome<ApplicationWithKeyBody>> {
  const { systemKeys } = options;
  const found = await lockApplicationById(tx, id, auditContext.atMs);
  if (!found) return noSuchApplication();
  const application = beforeWriting(() => changes.verify(found));
  const [earlier, dead] = await Promise.all([
    listApiKeys(tx, id, auditContext.atMs),
    listDeadApiKeys(tx, id, auditContext.atMs),
  ]);
  const isOverlap = overlapSeconds > 0;
  if (isOverlap && earlier.length >= KEYS_MAX) {
    const message = `would leave more than ${KEYS_MAX} keys; revoke some, or let the earlier ones stop at once`;
    return validationFailed({ overlap_seconds: [message] });
  }
  const endMs = auditContext.atMs + overlapSeconds * 1_000;
  const kept = isOverlap ? earlier.map((row) => limited(options, tx.tenantId, id, row, endMs)) : [];
  for (const row of kept) await limitApiKey(tx, id, row);
  const ended = await endKeys(tx, systemKeys, auditContext, id, isOverlap ? dead : [...earlier, ...dead]);
  // Also what no list showed, because somebody put more rows there than a list holds.
  await deleteOtherApiKeys(
    tx,
    id,
    [...kept, ...ended].map(({ hash }) => hash),
  );
  await endSessionsWithoutKey(tx, auditContext, id);
  const key = generateApiKey(application.type as ApplicationType); // The column takes no other value.
  const { id: keyId } = await storeKey(tx, systemKeys, auditContext, id, key);
  const body = { ...applicationBodyOf(application), key: key.reveal() };
  await conclude(tx, auditContext, APPLICATION_EVENTS.key_regenerated, id, body);
  return { body, story: { event: APPLICATION_EVENTS.key_regenerated, applicationId: id, keyId } };
}

/** The key with its new end. One that was altered in the database must not get a good seal in passing. */
function limited(
  { systemKeys, onIntegrityFault }: ChangesOptions,
  tenantId: string,
  applicationId: string,
  row: ApiKeyRow,
  endMs: number,
): ApiKeyRow {
  const key = { hash: row.hash, tenantId, applicationId, id: row.id };
  if (!isKeyMacValid(systemKeys.rowMac, { ...key, expiresAt: row.expires_at }, row.mac)) {
    onIntegrityFault({ tenantId, applicationId });
    throw storageUnavailable(new Error('a key of this application was changed outside the product'));
  }
  const expiresAt = new Date(Math.min(endMs, row.expires_at?.getTime() ?? endMs));
  return { ...row, expires_at: expiresAt, mac: keyMac(systemKeys.rowMac, { ...key, expiresAt }) };
}
