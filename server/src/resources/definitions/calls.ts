import type { AuditContext } from '../../audit/entry.js';
import type { OffsetPagination } from '../../http/paging/pages.js';
import { offsetPage, pageAsked } from '../../http/paging/pages.js';
import { AppError } from '../../kernel/errors.js';
import { isUuid, newId } from '../../kernel/ids.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { applicationOf, concludeChange, hold, refusedApplication, write, writeDefinition } from './change.js';
import { withHiddenKept } from './hidden.js';
import type { Configuration, DefinitionKind, DefinitionShape, Opened } from './kind.js';
import type { DefinitionFilter } from './queries.js';
import { FREE_PAGE_BYTES } from './queries.js';
import type { DefinitionsQuery } from './schema.js';
import type { DefinitionStore } from './store.js';
import { definitionIdOf, noSuchDefinition } from './store.js';

type Id = string | undefined;

export interface DefinitionCalls<S extends DefinitionShape> {
  create(tenantId: string, auditContext: AuditContext, input: unknown): Promise<S['newBody']>;
  list(tenantId: string, auditContext: AuditContext, query: DefinitionsQuery): Promise<DefinitionList<S>>;
  get(tenantId: string, id: Id, nowMs: number): Promise<S['body']>;
  replace(tenantId: string, auditContext: AuditContext, id: Id, input: unknown): Promise<S['body']>;
  patch(tenantId: string, auditContext: AuditContext, id: Id, input: unknown): Promise<void>;
  delete(tenantId: string, auditContext: AuditContext, id: Id): Promise<void>;
  /** Replaces what is kept beside the definition: a secret, a key. No version is kept. */
  renew(tenantId: string, auditContext: AuditContext, id: Id): Promise<S['newBody']>;
}

export interface DefinitionList<S extends DefinitionShape> {
  readonly pagination: OffsetPagination;
  readonly data: S['body'][];
}

export interface CallsOptions<S extends DefinitionShape> {
  readonly database: Database;
  readonly store: DefinitionStore<S>;
  /** What a new one is given. */
  readonly newKept: () => S['kept'];
}

export function createDefinitionCalls<S extends DefinitionShape>(options: CallsOptions<S>): DefinitionCalls<S> {
  return {
    ...readsOf(options),
    create: (tenantId, auditContext, input) => create(options, tenantId, auditContext, input),
    ...changesOf(options),
  };
}

function readsOf<S extends DefinitionShape>({
  database,
  store,
}: CallsOptions<S>): Pick<DefinitionCalls<S>, 'list' | 'get'> {
  const { kind, names } = store;
  const { rows } = kind;
  return {
    async list(tenantId, auditContext, query) {
      const { page, size, offset } = pageAsked(query);
      const filter = filterOf(query);
      const wanted = { limit: size, offset, bytesMax: FREE_PAGE_BYTES };
      const [listed, total, named] = await database.readPage(tenantId, async (tx) => {
        const [found, count] = await Promise.all([rows.list(tx, filter, wanted), rows.count(tx, filter)]);
        const ids = found.flatMap(({ application_id: id }) => (id === null ? [] : [id]));
        return [found, count, await names.find(tx, [...new Set(ids)], auditContext.atMs)] as const;
      });
      const applications = names.verified(named);
      const whole = await store.whole<S['row']>(tenantId, auditContext, listed, (bytesMax) =>
        database.readPage(tenantId, (tx) => rows.list(tx, filter, { ...wanted, bytesMax })),
      );
      const keys = await store.keysFor(tenantId, whole);
      const data = whole.map((row) => kind.bodyOf(store.open(keys, row), applications));
      return { pagination: offsetPage({ total, page, size }), data };
    },

    async get(tenantId, given, nowMs) {
      const id = definitionIdOf(kind, given);
      const [row, named] = await database.read(tenantId, async (tx) => {
        const found = await rows.find(tx, id);
        const ids = found && found.application_id !== null ? [found.application_id] : [];
        return [found, await names.find(tx, ids, nowMs)] as const;
      });
      if (!row) throw noSuchDefinition(kind);
      const keys = await store.keysFor(tenantId, [row]);
      return kind.bodyOf(store.open(keys, row), names.verified(named));
    },
  };
}

/** What is no id names nothing, so it narrows the list like an id nobody has. */
function filterOf({ id, name }: DefinitionsQuery): DefinitionFilter {
  const ids = id?.filter(isUuid).map((text) => text.toLowerCase());
  if (name === undefined || !name.includes('*')) return { ids, name };
  return { ids, pattern: name.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%') };
}

async function create<S extends DefinitionShape>(
  { database, store, newKept }: CallsOptions<S>,
  tenantId: string,
  auditContext: AuditContext,
  input: unknown,
): Promise<S['newBody']> {
  const { kind } = store;
  const definition = withSettingsKept(kind, auditContext, {}, kind.read(input));
  const keys = await store.keysFor(tenantId, []);
  const outcome = await database.write(tenantId, async (tx) => {
    const applications = await applicationOf(store, tx, definition, auditContext.atMs);
    const refusal = refusedApplication(definition, applications, kind.applicationPath(input));
    if (refusal) return refusal;
    const kept = newKept();
    const content = { ...definition, ...kept };
    const place = { tenant_id: tenantId, id: newId(), version: 1 };
    const row: S['row'] = {
      ...place,
      ...kind.columnsOf(content),
      name: content.name,
      application_id: content.applicationId,
      sealed: kind.sealing.seal(keys, place, definition, kept),
      created_by: auditContext.actor?.id ?? null,
      created_at: new Date(auditContext.atMs),
      modified_by: null,
      modified_at: null,
    };
    await kind.rows.insert(tx, row);
    const body = kind.newBodyOf({ row, content }, applications);
    await concludeChange({}, tx, auditContext, kind.events.created, row.id, body);
    return body;
  });
  if (outcome instanceof AppError) throw outcome;
  return outcome;
}

/** With what is stored in place of dots, where that is still no more than a definition may say. */
function withSettingsKept<S extends DefinitionShape>(
  kind: DefinitionKind<S>,
  auditContext: AuditContext,
  before: Configuration,
  given: S['definition'],
): S['definition'] {
  const configuration = withHiddenKept(auditContext, before, given.configuration);
  return kind.applyPatch({ ...given, configuration }, kind.readPatch({}));
}

interface AskedChange<S extends DefinitionShape> {
  readonly work: (before: S['definition']) => S['definition'];
  /** Where it says which Application; otherwise one that is gone may stay named. */
  readonly applicationPath: string | undefined;
  /** Whether the answer shows what was changed. */
  readonly shows: boolean;
}

function changesOf<S extends DefinitionShape>({
  store,
  newKept,
}: CallsOptions<S>): Pick<DefinitionCalls<S>, 'replace' | 'patch' | 'delete' | 'renew'> {
  const { kind } = store;
  const change = (tenantId: string, auditContext: AuditContext, given: Id, asked: AskedChange<S>) => {
    const id = definitionIdOf(kind, given);
    return store.change(tenantId, id, (tx) => changed(store, tx, auditContext, id, asked));
  };
  return {
    async replace(tenantId, auditContext, given, input) {
      const definition = kind.read(input);
      const applicationPath = kind.applicationPath(input);
      return change(tenantId, auditContext, given, { work: () => definition, applicationPath, shows: true });
    },

    async patch(tenantId, auditContext, given, input) {
      const patch = kind.readPatch(input);
      const applicationPath = patch.applicationId === undefined ? undefined : kind.applicationPath(input);
      const work: AskedChange<S>['work'] = (before) => kind.applyPatch(before, patch);
      await change(tenantId, auditContext, given, { work, applicationPath, shows: false });
    },

    async delete(tenantId, auditContext, given) {
      const id = definitionIdOf(kind, given);
      await store.change(tenantId, id, async (tx) => {
        if (!(await kind.rows.lock(tx, id))) return noSuchDefinition(kind);
        await kind.rows.delete(tx, id);
        return concludeChange(kind, tx, auditContext, kind.events.deleted, id, undefined);
      });
    },

    async renew(tenantId, auditContext, given) {
      const id = definitionIdOf(kind, given);
      return store.change(tenantId, id, async (tx) => {
        const held = await hold(store, tx, id);
        if (held instanceof AppError) return held;
        const applications = await applicationOf(store, tx, held.content, auditContext.atMs);
        const written: Opened<S> = await write(kind, tx, auditContext, held, held.content, newKept());
        const body = kind.newBodyOf(written, applications);
        await concludeChange(kind, tx, auditContext, kind.events.updated, id, body);
        return body;
      });
    },
  };
}

async function changed<S extends DefinitionShape>(
  store: DefinitionStore<S>,
  tx: TenantTx,
  auditContext: AuditContext,
  id: string,
  { work, applicationPath, shows }: AskedChange<S>,
): Promise<S['body'] | AppError> {
  const { kind } = store;
  const held = await hold(store, tx, id);
  if (held instanceof AppError) return held;
  const { configuration } = held.content;
  const definition = beforeWriting(() => withSettingsKept(kind, auditContext, configuration, work(held.content)));
  const applications = await applicationOf(store, tx, definition, auditContext.atMs);
  const refusal =
    applicationPath === undefined ? undefined : refusedApplication(definition, applications, applicationPath);
  if (refusal) return refusal;
  const body = kind.bodyOf(await writeDefinition(kind, tx, auditContext, held, definition), applications);
  await concludeChange(kind, tx, auditContext, kind.events.updated, id, shows ? body : undefined);
  return body;
}
