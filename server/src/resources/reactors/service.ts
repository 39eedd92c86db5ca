import type { AuditContext } from '../../audit/entry.js';
import { offsetPage, pageAsked } from '../../http/paging/pages.js';
import { AppError } from '../../kernel/errors.js';
import { isUuid, newId } from '../../kernel/ids.js';
import type { LateSandbox } from '../../sandbox/late-sandbox.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { reactorBodyOf } from './definition/body.js';
import {
  applicationOf,
  concludeReactor,
  holdReactor,
  newCallbackSecret,
  refusedApplication,
  writeDefinition,
  writeReactor,
} from './definition/change.js';
import type { ReactorDefinition } from './definition/content.js';
import { sealReactor } from './definition/content.js';
import { applyReactorPatch, readReactor, readReactorPatch } from './definition/input.js';
import type { ReactorStore, StoreOptions } from './definition/store.js';
import { createReactorStore, noSuchReactor, reactorIdOf } from './definition/store.js';
import { REACTOR_EVENTS } from './events.js';
import type { ReactorFigures } from './figures/figures.js';
import type { FigureCalls } from './figures/service.js';
import { createFigureCalls } from './figures/service.js';
import type { ReactorFilter } from './queries.js';
import {
  countReactors,
  deleteReactor,
  FREE_PAGE_BYTES,
  findReactor,
  insertReactor,
  listReactors,
  lockReactor,
} from './queries.js';
import { createAccept } from './queue/accept.js';
import { createRequestOpener } from './queue/open-request.js';
import type { QueueSignals } from './queue/queue.js';
import type { RequestCalls } from './queue/service.js';
import { createRequestCalls } from './queue/service.js';
import type { InvokeOptions } from './run/invoke.js';
import { createRunCode } from './run/run-code.js';
import type { RunCalls } from './run/service.js';
import { createRunCalls } from './run/service.js';
import type { ReactorBody, ReactorList, ReactorsQuery, ReactorWithSecretBody } from './schema.js';
import type { VersionCalls } from './versions/service.js';
import { createVersionCalls } from './versions/service.js';

type Id = string | undefined;

export interface ReactorsOptions extends StoreOptions, Omit<InvokeOptions, 'runCode' | 'onInvoked'> {
  readonly sandbox: Pick<LateSandbox, 'run' | 'state'>;
  readonly reactorFigures: Pick<ReactorFigures, 'note' | 'flush'>;
  readonly queue: QueueSignals;
}

export interface Reactors {
  create(tenantId: string, auditContext: AuditContext, input: unknown): Promise<ReactorWithSecretBody>;
  list(tenantId: string, auditContext: AuditContext, query: ReactorsQuery): Promise<ReactorList>;
  get(tenantId: string, id: Id, nowMs: number): Promise<ReactorBody>;
  replace(tenantId: string, auditContext: AuditContext, id: Id, input: unknown): Promise<ReactorBody>;
  patch(tenantId: string, auditContext: AuditContext, id: Id, input: unknown): Promise<void>;
  delete(tenantId: string, auditContext: AuditContext, id: Id): Promise<void>;
  renewSecret(tenantId: string, auditContext: AuditContext, id: Id): Promise<ReactorWithSecretBody>;
  readonly versions: VersionCalls;
  readonly runs: RunCalls;
  readonly figures: FigureCalls;
  readonly requests: RequestCalls;
}

export function createReactors(options: ReactorsOptions): Reactors {
  const { database, queue } = options;
  const store = createReactorStore(options);
  const runCode = createRunCode(options.sandbox);
  const accept = createAccept({ database, store, runCode, queue });
  return {
    ...readsOf(options, store),
    create: (tenantId, auditContext, input) => createReactor(options, store, tenantId, auditContext, input),
    ...changesOf(store),
    versions: createVersionCalls(options, store),
    runs: createRunCalls({ ...options, runCode, onInvoked: options.reactorFigures.note }, store, accept),
    figures: createFigureCalls(options.database, options.reactorFigures),
    requests: createRequestCalls({ database, queue, store, accept, open: createRequestOpener(options, store) }),
  };
}

function readsOf({ database }: StoreOptions, store: ReactorStore): Pick<Reactors, 'list' | 'get'> {
  return {
    async list(tenantId, auditContext, query) {
      const { page, size, offset } = pageAsked(query);
      const filter = filterOf(query);
      const wanted = { limit: size, offset, bytesMax: FREE_PAGE_BYTES };
      const [listed, total, named] = await database.readPage(tenantId, async (tx) => {
        const [found, count] = await Promise.all([listReactors(tx, filter, wanted), countReactors(tx, filter)]);
        const ids = found.flatMap(({ application_id: id }) => (id === null ? [] : [id]));
        return [found, count, await store.names.find(tx, [...new Set(ids)], auditContext.atMs)] as const;
      });
      const applications = store.names.verified(named);
      const rows = await store.whole(tenantId, auditContext, listed, (bytesMax) =>
        database.readPage(tenantId, (tx) => listReactors(tx, filter, { ...wanted, bytesMax })),
      );
      const keys = await store.keysFor(tenantId, rows);
      const data = rows.map((row) => reactorBodyOf(store.open(keys, row), applications));
      return { pagination: offsetPage({ total, page, size }), data };
    },

    async get(tenantId, given, nowMs) {
      const id = reactorIdOf(given);
      const [row, named] = await database.read(tenantId, async (tx) => {
        const found = await findReactor(tx, id);
        const ids = found && found.application_id !== null ? [found.application_id] : [];
        return [found, await store.names.find(tx, ids, nowMs)] as const;
      });
      if (!row) throw noSuchReactor();
      const keys = await store.keysFor(tenantId, [row]);
      return reactorBodyOf(store.open(keys, row), store.names.verified(named));
    },
  };
}

/** What is no id names nothing, so it narrows the list like an id nobody has. */
function filterOf({ id, name }: ReactorsQuery): ReactorFilter {
  const ids = id?.filter(isUuid).map((text) => text.toLowerCase());
  if (name === undefined || !name.includes('*')) return { ids, name };
  return { ids, pattern: name.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%') };
}

async function createReactor(
  { database }: StoreOptions,
  store: ReactorStore,
  tenantId: string,
  auditContext: AuditContext,
  input: unknown,
): Promise<ReactorWithSecretBody> {
  const definition = readReactor(input);
  const keys = await store.keysFor(tenantId, []);
  const outcome = await database.write(tenantId, async (tx) => {
    const applications = await applicationOf(store, tx, definition, auditContext.atMs);
    const refusal = refusedApplication(definition, applications);
    if (refusal) return refusal;
    const content = { ...definition, callbackSecret: newCallbackSecret() };
    const place = { tenant_id: tenantId, id: newId(), version: 1 };
    const row = {
      ...place,
      name: content.name,
      application_id: content.applicationId,
      sealed: sealReactor(keys, place, content),
      created_by: auditContext.actor?.id ?? null,
      created_at: new Date(auditContext.atMs),
      modified_by: null,
      modified_at: null,
    };
    await insertReactor(tx, row);
    const body = { ...reactorBodyOf({ row, content }, applications), callback_secret: content.callbackSecret };
    await concludeReactor(tx, auditContext, REACTOR_EVENTS.created, row.id, body);
    return body;
  });
  if (outcome instanceof AppError) throw outcome;
  return outcome;
}

interface AskedChange {
  readonly work: (before: ReactorDefinition) => ReactorDefinition;
  /** Whether it says which Application; otherwise one that is gone may stay named. */
  readonly namesApplication: boolean;
  /** Whether the answer shows the Reactor. */
  readonly shows: boolean;
}

function changesOf(store: ReactorStore): Pick<Reactors, 'replace' | 'patch' | 'delete' | 'renewSecret'> {
  const change = (tenantId: string, auditContext: AuditContext, given: Id, asked: AskedChange) => {
    const id = reactorIdOf(given);
    return store.change(tenantId, id, (tx) => changeReactor(store, tx, auditContext, id, asked));
  };
  return {
    async replace(tenantId, auditContext, given, input) {
      const definition = readReactor(input);
      return change(tenantId, auditContext, given, { work: () => definition, namesApplication: true, shows: true });
    },

    async patch(tenantId, auditContext, given, input) {
      const patch = readReactorPatch(input);
      const namesApplication = patch.applicationId !== undefined;
      const work: AskedChange['work'] = (before) => applyReactorPatch(before, patch);
      await change(tenantId, auditContext, given, { work, namesApplication, shows: false });
    },

    async delete(tenantId, auditContext, given) {
      const id = reactorIdOf(given);
      await store.change(tenantId, id, async (tx) => {
        if (!(await lockReactor(tx, id))) return noSuchReactor();
        await deleteReactor(tx, id);
        return concludeReactor(tx, auditContext, REACTOR_EVENTS.deleted, id, undefined);
      });
    },

    async renewSecret(tenantId, auditContext, given) {
      const id = reactorIdOf(given);
      return store.change(tenantId, id, async (tx) => {
        const held = await holdReactor(store, tx, id);
        if (held instanceof AppError) return held;
        const applications = await applicationOf(store, tx, held.content, auditContext.atMs);
        const callbackSecret = newCallbackSecret();
        const written = await writeReactor(tx, auditContext, held, { ...held.content, callbackSecret });
        const body = { ...reactorBodyOf(written, applications), callback_secret: callbackSecret };
        await concludeReactor(tx, auditContext, REACTOR_EVENTS.updated, id, body);
        return body;
      });
    },
  };
}

async function changeReactor(
  store: ReactorStore,
  tx: TenantTx,
  auditContext: AuditContext,
  id: string,
  { work, namesApplication, shows }: AskedChange,
): Promise<ReactorBody | AppError> {
  const held = await holdReactor(store, tx, id);
  if (held instanceof AppError) return held;
  const definition = beforeWriting(() => work(held.content));
  const applications = await applicationOf(store, tx, definition, auditContext.atMs);
  const refusal = namesApplication ? refusedApplication(definition, applications) : undefined;
  if (refusal) return refusal;
  const body = reactorBodyOf(await writeDefinition(tx, auditContext, held, definition), applications);
  await concludeReactor(tx, auditContext, REACTOR_EVENTS.updated, id, shows ? body : undefined);
  return body;
}
