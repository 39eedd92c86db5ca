import type { AuditContext } from '../../audit/entry.js';
import { AppError } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { applicationOf, concludeChange, hold, isUsable, writeDefinition } from './change.js';
import type { DefinitionKind, DefinitionShape } from './kind.js';
import { FREE_PAGE_BYTES } from './queries.js';
import type { DefinitionStore } from './store.js';
import { definitionIdOf, noSuchDefinition } from './store.js';
import type { VersionRow } from './version-queries.js';

export interface VersionCalls<S extends DefinitionShape> {
  /** What it was before, newest first. */
  list(tenantId: string, auditContext: AuditContext, id: string | undefined): Promise<S['versionBody'][]>;
  /** Makes it that again. */
  restore(
    tenantId: string,
    auditContext: AuditContext,
    id: string | undefined,
    version: string | undefined,
  ): Promise<S['body']>;
}

const VERSION_PATTERN = /^[1-9]\d{0,8}$/;

export function createVersionCalls<S extends DefinitionShape>(
  database: Database,
  store: DefinitionStore<S>,
): VersionCalls<S> {
  const { kind } = store;
  const { rows, versions } = kind;
  return {
    async list(tenantId, auditContext, given) {
      const id = definitionIdOf(kind, given);
      const [isThere, listed] = await database.readAtOnce(tenantId, (tx) =>
        Promise.all([rows.isThere(tx, id), versions.list(tx, id, FREE_PAGE_BYTES)]),
      );
      if (!isThere) throw noSuchDefinition(kind);
      const whole = await store.whole<VersionRow>(tenantId, auditContext, listed, (bytes) =>
        database.readPage(tenantId, (tx) => versions.list(tx, id, bytes)),
      );
      const keys = await store.keysFor(tenantId, whole);
      return whole.map((row) => kind.versionBodyOf(row, store.openVersion(keys, row)));
    },

    async restore(tenantId, auditContext, given, givenVersion) {
      const id = definitionIdOf(kind, given);
      // What is no number names nothing, like one that no version has.
      const version = VERSION_PATTERN.test(givenVersion ?? '') ? Number(givenVersion) : 0;
      return store.change(tenantId, id, async (tx) => {
        const held = await hold(store, tx, id);
        if (held instanceof AppError) return held;
        const row = await versions.find(tx, id, version);
        if (!row) return noSuchVersion(kind);
        const keys = await store.keysFor(tenantId, [held.row, row]);
        const former = beforeWriting(() => store.openVersion(keys, row));
        const applications = await applicationOf(store, tx, former, auditContext.atMs);
        const application = applications.get(former.applicationId ?? '');
        // One that is gone does not come back with the version that named it.
        const applicationId = application && isUsable(application) ? application.id : null;
        const restored = { ...former, applicationId };
        const written = await writeDefinition(kind, tx, auditContext, { ...held, keys }, restored);
        const body = kind.bodyOf(written, applications);
        await concludeChange(kind, tx, auditContext, kind.events.restored, id, body);
        return body;
      });
    },
  };
}

function noSuchVersion<S extends DefinitionShape>({ title }: DefinitionKind<S>): AppError {
  return new AppError('not_found', `The ${title} has no such version. GET its versions for those there are.`);
}
