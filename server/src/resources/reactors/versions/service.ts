import type { AuditContext } from '../../../audit/entry.js';
import { AppError } from '../../../kernel/errors.js';
import { beforeWriting } from '../../../storage/unwritten.js';
import { isUsable, reactorBodyOf, versionBodyOf } from '../definition/body.js';
import { applicationOf, concludeReactor, holdReactor, writeDefinition } from '../definition/change.js';
import type { ReactorStore, StoreOptions } from '../definition/store.js';
import { noSuchReactor, reactorIdOf } from '../definition/store.js';
import { REACTOR_EVENTS } from '../events.js';
import { FREE_PAGE_BYTES, isReactor } from '../queries.js';
import type { ReactorBody, ReactorVersionBody } from '../schema.js';
import { findReactorVersion, listReactorVersions } from './queries.js';

export interface VersionCalls {
  /** What a Reactor was before, newest first. */
  list(tenantId: string, auditContext: AuditContext, id: string | undefined): Promise<ReactorVersionBody[]>;
  /** Makes it that again. */
  restore(
    tenantId: string,
    auditContext: AuditContext,
    id: string | undefined,
    version: string | undefined,
  ): Promise<ReactorBody>;
}

const VERSION_PATTERN = /^[1-9]\d{0,8}$/;

export function createVersionCalls({ database }: StoreOptions, store: ReactorStore): VersionCalls {
  return {
    async list(tenantId, auditContext, given) {
      const id = reactorIdOf(given);
      const [isThere, listed] = await database.readAtOnce(tenantId, (tx) =>
        Promise.all([isReactor(tx, id), listReactorVersions(tx, id, FREE_PAGE_BYTES)]),
      );
      if (!isThere) throw noSuchReactor();
      const rows = await store.whole(tenantId, auditContext, listed, (bytes) =>
        database.readPage(tenantId, (tx) => listReactorVersions(tx, id, bytes)),
      );
      const keys = await store.keysFor(tenantId, rows);
      return rows.map((row) => versionBodyOf(row, store.openVersion(keys, row)));
    },

    async restore(tenantId, auditContext, given, givenVersion) {
      const id = reactorIdOf(given);
      // What is no number names nothing, like one that no version has.
      const version = VERSION_PATTERN.test(givenVersion ?? '') ? Number(givenVersion) : 0;
      return store.change(tenantId, id, async (tx) => {
        const held = await holdReactor(store, tx, id);
        if (held instanceof AppError) return held;
        const row = await findReactorVersion(tx, id, version);
        if (!row) return noSuchVersion();
        const keys = await store.keysFor(tenantId, [held.row, row]);
        const former = beforeWriting(() => store.openVersion(keys, row));
        const applications = await applicationOf(store, tx, former, auditContext.atMs);
        const application = applications.get(former.applicationId ?? '');
        // One that is gone does not come back with the version that named it.
        const applicationId = application && isUsable(application) ? application.id : null;
        const written = await writeDefinition(tx, auditContext, { ...held, keys }, { ...former, applicationId });
        const body = reactorBodyOf(written, applications);
        await concludeReactor(tx, auditContext, REACTOR_EVENTS.restored, id, body);
        return body;
      });
    },
  };
}

function noSuchVersion(): AppError {
  return new AppError('not_found', 'The Reactor has no such version. GET its versions for those there are.');
}
