import type { AuditContext } from '../../audit/entry.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { KeyStore } from '../../crypto/key-store.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { AppError, overloaded, storageUnavailable } from '../../kernel/errors.js';
import { isUuid } from '../../kernel/ids.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { TenantTx } from '../../storage/scope.js';
import { takeRoom } from '../../vault/index.js';
import type { ApplicationNames, ChangesOptions } from '../applications/index.js';
import { createApplicationNames } from '../applications/index.js';
import type { DefinitionKind, DefinitionShape, Opened } from './kind.js';
import type { Listed } from './queries.js';
import type { VersionRow } from './version-queries.js';

/** Which stored definition, or version of one, was changed outside the product. */
export interface AlteredStory {
  readonly tenantId: string;
  readonly id: string;
  readonly version?: number;
}

/** What every kind is stored with. */
export interface DefinitionsOptions extends ChangesOptions {
  readonly largeWork: LargeWork;
  readonly keyring: KeyStore['keyring'];
}

export interface StoreHooks {
  readonly onAltered: (story: AlteredStory) => void;
  /** Called before the answer to a change goes out, and where nobody can say whether it was made. */
  readonly onChanged?: (tenantId: string) => void;
}

/** What the calls on a kind have in common. */
export interface DefinitionStore<S extends DefinitionShape> {
  readonly kind: DefinitionKind<S>;
  readonly names: ApplicationNames;
  /** The keys that open these rows, and seal new ones. */
  keysFor(tenantId: string, rows: readonly { readonly sealed: Buffer }[]): Promise<TenantKeys>;
  /** 503 for a row that was altered, after the operator was told of it. */
  open(keys: TenantKeys, row: S['row']): Opened<S>;
  openVersion(keys: TenantKeys, row: VersionRow): S['definition'];
  /**
   * The rows of a list with what is sealed. Those of a large list are in the database still: they are asked for once there is
   * room for them, and again where the list has grown beyond it meanwhile.
   */
  whole<Row>(
    tenantId: string,
    auditContext: AuditContext,
    listed: readonly Listed<Row>[],
    askAgain: (bytesMax: number) => Promise<readonly Listed<Row>[]>,
  ): Promise<Row[]>;
  /** Runs a change of one definition. A refusal is handed back, not thrown: nothing was written. */
  change<T>(tenantId: string, id: string, work: (tx: TenantTx) => Promise<T | AppError>): Promise<T>;
}

function isWhole<Row>(row: Listed<Row>): row is Listed<Row> & Row {
  return row.sealed !== null;
}

/** What is held of a record: as it was sealed, its text, and that text in the answer. */
const OPENED_TIMES = 3;
/** Room for what is made or changed between the two looks at a large list: the largest definition, twice. */
const GROWN_BYTES = 2_097_152;
const ASKED_MAX = 4;

export function createDefinitionStore<S extends DefinitionShape>(
  kind: DefinitionKind<S>,
  options: DefinitionsOptions,
  hooks: StoreHooks,
): DefinitionStore<S> {
  const { keyring } = options;
  return {
    kind,
    names: createApplicationNames(options),
    async keysFor(tenantId, rows) {
      try {
        return await keyring.forRecords(
          tenantId,
          rows.map(({ sealed }) => sealed),
        );
      } catch (error) {
        if (!(error instanceof IntegrityError)) throw error;
        // Its keys are the first thing a deleted tenant loses, and with them its credentials.
        throw new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
      }
    },
    ...openersOf(kind, hooks),
    async whole<Row>(
      tenantId: string,
      auditContext: AuditContext,
      listed: readonly Listed<Row>[],
      askAgain: (bytesMax: number) => Promise<readonly Listed<Row>[]>,
    ): Promise<Row[]> {
      let rows = listed;
      for (let asked = 0; !rows.every(isWhole); asked += 1) {
        // What is listed may have changed each time; whoever changes it that fast can wait.
        if (asked === ASKED_MAX) throw overloaded();
        const bytes = rows.reduce((sum, row) => sum + row.bytes, 0) + GROWN_BYTES;
        await takeRoom(options.largeWork, tenantId, auditContext, bytes * OPENED_TIMES);
        rows = await askAgain(bytes);
      }
      return rows.filter((row) => isWhole<Row>(row));
    },
    change: changesOf(options, hooks),
  };
}

function openersOf<S extends DefinitionShape>(
  { title, sealing }: DefinitionKind<S>,
  { onAltered }: StoreHooks,
): Pick<DefinitionStore<S>, 'open' | 'openVersion'> {
  function opened<T>(story: AlteredStory, open: () => T): T {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      onAltered(story);
      throw storageUnavailable(new Error(`a stored ${title} was changed outside the product`));
    }
  }

  return {
    open: (keys, row) =>
      opened({ tenantId: row.tenant_id, id: row.id }, () => ({ row, content: sealing.open(keys, row) })),
    openVersion: (keys, row) =>
      opened({ tenantId: row.tenant_id, id: row.definition_id, version: row.version }, () =>
        sealing.openVersion(keys, row),
      ),
  };
}

function changesOf<S extends DefinitionShape>(
  { database }: DefinitionsOptions,
  { onChanged }: StoreHooks,
): DefinitionStore<S>['change'] {
  // Members of one batch share a transaction, where a row lock keeps nobody out.
  const inTurn = createKeyedLock();
  return async (tenantId, id, work) => {
    let isRefused = false;
    const outcome = await inTurn(`${tenantId} ${id}`, async () => {
      try {
        const ended = await database.write(tenantId, work);
        isRefused = ended instanceof AppError;
        return ended;
      } finally {
        if (!isRefused) onChanged?.(tenantId);
      }
    });
    if (outcome instanceof AppError) throw outcome;
    return outcome;
  };
}

type Named = Pick<DefinitionKind<DefinitionShape>, 'title' | 'path'>;

/** An id in the one spelling ids are stored in; what is none names nothing. */
export function definitionIdOf(kind: Named, text: string | undefined): string {
  if (text === undefined || !isUuid(text)) throw noSuchDefinition(kind);
  return text.toLowerCase();
}

export function noSuchDefinition({ title, path }: Named): AppError {
  return new AppError('not_found', `There is no such ${title}. GET ${path} lists those there are.`);
}
