import { generateApiKey } from '../../access/api-key.js';
import { rulesText } from '../../access/grants.js';
import type { ApplicationType } from '../../access/permissions.js';
import type { AuditContext } from '../../audit/entry.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import { validationFailed } from '../../kernel/errors.js';
import { isUuid } from '../../kernel/ids.js';
import { announce } from '../../storage/changes.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { applicationBodyOf, shownApplicationOf } from './definition/body.js';
import type { ChangeOutcome, Changes, ChangesOptions } from './definition/changes.js';
import { conclude, createChanges, idOf, noSuchApplication, shownRights } from './definition/changes.js';
import { sealed, storeApplication, storeKey } from './definition/create.js';
import { checkTimedRights } from './definition/definition.js';
import { APPLICATION_EVENTS } from './events.js';
import { endSessionsOfApplication } from './keys/end.js';
import { listApiKeys } from './keys/queries.js';
import type { KeyCalls } from './keys/service.js';
import { createKeyCalls } from './keys/service.js';
import type { ListedApplicationRow, NamedKeyRow } from './queries.js';
import {
  countApplications,
  deleteApplications,
  findApplicationById,
  listApplications,
  lockApplicationById,
  updateApplication,
} from './queries.js';
import type {
  ApplicationCreate,
  ApplicationList,
  ApplicationsQuery,
  ApplicationUpdate,
  ApplicationWithKeyBody,
  ShownApplication,
} from './schema.js';

export interface Applications {
  create(tenantId: string, auditContext: AuditContext, input: ApplicationCreate): Promise<ApplicationWithKeyBody>;
  list(tenantId: string, query: ApplicationsQuery, nowMs: number): Promise<ApplicationList>;
  get(tenantId: string, id: string | undefined, nowMs: number): Promise<ShownApplication>;
  update(
    tenantId: string,
    auditContext: AuditContext,
    id: string | undefined,
    input: ApplicationUpdate,
  ): Promise<ShownApplication>;
  delete(tenantId: string, auditContext: AuditContext, id: string | undefined): Promise<void>;
  readonly keys: KeyCalls;
}

const PAGE_SIZE_DEFAULT = 20;

export function createApplications(options: ChangesOptions): Applications {
  const changes = createChanges(options);
  return {
    ...readsOf(options, changes),
    ...changesOf(options, changes),
    keys: createKeyCalls(options, changes),
  };
}

function readsOf({ database }: ChangesOptions, changes: Changes): Pick<Applications, 'list' | 'get'> {
  return {
    async list(tenantId, query, nowMs) {
      const [page, size] = [query.page ?? 1, query.size ?? PAGE_SIZE_DEFAULT];
      // What is no id names nothing, so it narrows the list like an id nobody has.
      const ids = query.id?.filter(isUuid).map((id) => id.toLowerCase());
      const filter = { ids, types: query.type, nowMs };
      const [rows, total] = await database.readPage(tenantId, (tx) =>
        Promise.all([listApplications(tx, filter, size, (page - 1) * size), countApplications(tx, filter)]),
      );
      return {
        pagination: {
          total_items: total,
          page_number: page,
          page_size: size,
          total_pages: Math.ceil(total / size),
        },
        data: rows.map((row) => shownApplicationOf(changes.verify(row), row.keys.map(namedKeyOf))),
      };
    },

    async get(tenantId, given, nowMs) {
      const id = idOf(given);
      const [row, keys] = await database.read(tenantId, (tx) =>
        Promise.all([findApplicationById(tx, id, nowMs), listApiKeys(tx, id, nowMs)]),
      );
      if (!row) throw noSuchApplication();
      return shownApplicationOf(changes.verify(row), keys);
    },
  };
}

function changesOf(options: ChangesOptions, changes: Changes): Pick<Applications, 'create' | 'update' | 'delete'> {
  const { database, systemKeys } = options;
  return {
    async create(tenantId, auditContext, input) {
      const { name, type, create_key: withKey = true } = input;
      const checked = checkTimedRights(type, input, { nowMs: auditContext.atMs });
      if ('errors' in checked) throw validationFailed(checked.errors);
      const created = await database.write(tenantId, async (tx) => {
        const row = await storeApplication(tx, systemKeys, auditContext, { name, type, ...checked.rights });
        const key = withKey ? generateApiKey(type) : undefined;
        if (key) await storeKey(tx, systemKeys, auditContext, row.id, key);
        await announce(tx, { kind: 'access', tenantId });
        const body = { ...applicationBodyOf(row), ...(key && { key: key.reveal() }) };
        await auditContext.keepAnswer?.(tx, body);
        return { row, body };
      });
      options.forgetAccess(tenantId);
      const { row, body } = created;
      const story = {
        event: APPLICATION_EVENTS.created,
        tenantId,
        applicationId: row.id,
        after: shownRights(row),
      } as const;
      options.onSecurity(story, auditContext);
      return body;
    },

    async update(tenantId, auditContext, given, input) {
      const forAnyType = checkTimedRights(input.type, input, { nowMs: auditContext.atMs });
      if ('errors' in forAnyType) throw validationFailed(forAnyType.errors);
      const id = idOf(given);
      return changes.run(tenantId, id, auditContext, (tx) =>
        replaceDefinition(tx, systemKeys, changes, auditContext, id, input),
      );
    },

    async delete(tenantId, auditContext, given) {
      const id = idOf(given);
      const remove = () =>
        changes.run<boolean>(tenantId, id, auditContext, async (tx) => {
          const row = await lockApplicationById(tx, id, auditContext.atMs);
          if (!row) return noSuchApplication();
          if (!(await endSessionsOfApplication(tx, auditContext, id)).isAll) return { body: false };
          await deleteApplications(tx, [id]);
          await conclude(tx, auditContext, APPLICATION_EVENTS.deleted, id, undefined);
          return { body: true, story: { event: APPLICATION_EVENTS.deleted, applicationId: id } };
        });
      // Each session has its entry. So many at a time that nobody who shares the transaction waits long.
      while (!(await remove()));
    },
  };
}

async function replaceDefinition(
  tx: TenantTx,
  systemKeys: SystemKeys,
  changes: Changes,
  auditContext: AuditContext,
  id: string,
  input: ApplicationUpdate,
): Promise<ChangeOutcome<ShownApplication>> {
  const found = await lockApplicationById(tx, id, auditContext.atMs);
  if (!found) return noSuchApplication();
  const old = beforeWriting(() => changes.verify(found));
  const type = old.type as ApplicationType; // The column takes no other value.
  if (input.type !== undefined && input.type !== type) {
    return validationFailed({ type: ['cannot be changed; make another Application'] });
  }
  const checked = checkTimedRights(type, input, { nowMs: auditContext.atMs });
  if ('errors' in checked) return validationFailed(checked.errors);
  const { permissions, rules, expiresAt } = checked.rights;
  const row = sealed(systemKeys, {
    ...old,
    name: input.name,
    permissions,
    rules: rulesText(rules),
    expires_at: expiresAt,
    modified_by: auditContext.actor?.id ?? null,
    modified_at: new Date(auditContext.atMs),
  });
  const [keys] = await Promise.all([listApiKeys(tx, id, auditContext.atMs), updateApplication(tx, row)]);
  const body = shownApplicationOf(row, keys);
  await conclude(tx, auditContext, APPLICATION_EVENTS.updated, id, body);
  const isChanged = !row.mac.equals(old.mac);
  const story = { event: APPLICATION_EVENTS.updated, before: shownRights(old), after: shownRights(row) } as const;
  return { body, ...(isChanged && { story: { ...story, applicationId: id } }) };
}

function namedKeyOf([id, createdBy, createdAtMs]: ListedApplicationRow['keys'][number]): NamedKeyRow {
  return { id, created_by: createdBy, created_at: new Date(createdAtMs) };
}
