import type { AuditContext } from '../../../audit/entry.js';
import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { KeyStore } from '../../../crypto/key-store.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { AppError, overloaded, storageUnavailable } from '../../../kernel/errors.js';
import { isUuid } from '../../../kernel/ids.js';
import { createKeyedLock } from '../../../kernel/keyed-lock.js';
import type { LargeWork } from '../../../kernel/large-work.js';
import type { TenantTx } from '../../../storage/scope.js';
import { takeRoom } from '../../../vault/index.js';
import type { ApplicationNames, ChangesOptions } from '../../applications/index.js';
import { createApplicationNames } from '../../applications/index.js';
import type { ReactorRow } from '../queries.js';
import type { VersionRow } from '../versions/queries.js';
import type { OpenedReactor } from './body.js';
import type { ReactorContent, ReactorDefinition } from './content.js';
import { openReactor, openVersion } from './content.js';

/** Which stored Reactor, or version of one, was changed outside the product. */
export interface ReactorStory {
  readonly tenantId: string;
  readonly reactorId: string;
  readonly version?: number;
  /** Where it is a call that waits, or its result. */
  readonly requestId?: string;
}

export interface StoreOptions extends ChangesOptions {
  readonly largeWork: LargeWork;
  readonly keyring: KeyStore['keyring'];
  readonly onReactorAltered: (story: ReactorStory) => void;
}

/** What the calls on Reactors have in common. */
export interface ReactorStore {
  readonly names: ApplicationNames;
  /** The keys that open these rows, and seal new ones. */
  keysFor(tenantId: string, rows: readonly { readonly sealed: Buffer }[]): Promise<TenantKeys>;
  /** 503 for a row that was altered, after the operator was told of it. */
  open(keys: TenantKeys, row: ReactorRow): OpenedReactor<ReactorContent>;
  openVersion(keys: TenantKeys, row: VersionRow): ReactorDefinition;
  /**
   * The rows of a list with what is sealed. Those of a large list are in the database still: they are asked for once there is
   * room for them, and again where the list has grown beyond it meanwhile.
   */
  whole<Row extends Listed>(
    tenantId: string,
    auditContext: AuditContext,
    listed: readonly Row[],
    askAgain: (bytesMax: number) => Promise<readonly Row[]>,
  ): Promise<Whole<Row>[]>;
  /** Runs a change of one Reactor. A refusal is handed back, not thrown: nothing was written. */
  change<T>(tenantId: string, id: string, work: (tx: TenantTx) => Promise<T | AppError>): Promise<T>;
}

/** A row of a list, without what is sealed where the list is large. */
interface Listed {
  readonly sealed: Buffer | null;
  readonly bytes: number;
}
export type Whole<Row extends Listed> = Row & { readonly sealed: Buffer };

function isWhole<Row extends Listed>(row: Row): row is Whole<Row> {
  return row.sealed !== null;
}

/** What is held of a record: as it was sealed, its text, and that text in the answer. */
const OPENED_TIMES = 3;
/** Room for what is made or changed between the two looks at a large list: the largest Reactor, twice. */
const GROWN_BYTES = 2_097_152;
const ASKED_MAX = 4;

export function createReactorStore(options: StoreOptions): ReactorStore {
  const { database, keyring, onReactorAltered } = options;
  // Members of one batch share a transaction, where a row lock keeps nobody out.
  const inTurn = createKeyedLock();

  function opened<T>(story: ReactorStory, open: () => T): T {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      onReactorAltered(story);
      throw storageUnavailable(new Error('a stored Reactor was changed outside the product'));
    }
  }

  return {
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
    open: (keys, row) =>
      opened({ tenantId: row.tenant_id, reactorId: row.id }, () => ({ row, content: openReactor(keys, row) })),
    openVersion: (keys, row) =>
      opened({ tenantId: row.tenant_id, reactorId: row.reactor_id, version: row.version }, () =>
        openVersion(keys, row),
      ),
    async whole(tenantId, auditContext, listed, askAgain) {
      let rows: typeof listed = listed;
      for (let asked = 0; !rows.every(isWhole); asked += 1) {
        // What is listed may have changed each time; whoever changes it that fast can wait.
        if (asked === ASKED_MAX) throw overloaded();
        const bytes = rows.reduce((sum, row) => sum + row.bytes, 0) + GROWN_BYTES;
        await takeRoom(options.largeWork, tenantId, auditContext, bytes * OPENED_TIMES);
        rows = await askAgain(bytes);
      }
      return rows.filter(isWhole);
    },
    async change(tenantId, id, work) {
      const outcome = await inTurn(`${tenantId} ${id}`, () => database.write(tenantId, work));
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    },
  };
}

/** An id in the one spelling ids are stored in; what is none names nothing. */
export function reactorIdOf(text: string | undefined): string {
  if (text === undefined || !isUuid(text)) throw noSuchReactor();
  return text.toLowerCase();
}

export function noSuchReactor(): AppError {
  return new AppError('not_found', 'There is no such Reactor. GET /reactors lists those there are.');
}
