import { keyVersionOf } from '../../crypto/aead.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { FIRST_ID } from '../../kernel/ids.js';
import type { TenantTx } from '../../storage/scope.js';
import type { TableRecord } from '../../tables/table.js';
import { defineTable } from '../../tables/table.js';
import type { SealedRows } from '../../tables/walk.js';
import { attemptEach, stepOf } from '../../tables/walk.js';
import type { DefinitionKind, DefinitionShape } from './kind.js';
import type { VersionRow } from './version-queries.js';

/** A record may have a megabyte, and a step holds its rows. */
const STEP_ROWS_MAX = 16;

export interface Walked<Row> {
  readonly rowsMax?: number;
  readonly list: (tx: TenantTx, position: string, limit: number) => Promise<Row[]>;
  readonly nameOf: (row: Row) => string;
  readonly open: (keys: TenantKeys, row: Row) => unknown;
  readonly reseal: (keys: TenantKeys, row: Row) => Buffer;
  readonly replace: (tx: TenantTx, row: Row, sealed: Buffer) => Promise<boolean>;
}

/** How rotation and verification go over large sealed rows. */
export function sealedRows<Row extends { readonly sealed: Buffer }>(walked: Walked<Row>): SealedRows {
  const { list, nameOf, open, reseal, replace, rowsMax: stepMax = STEP_ROWS_MAX } = walked;
  return {
    async reseal(tx, keys, position, limit) {
      const rowsMax = Math.min(limit, stepMax);
      const page = await list(tx, position, rowsMax);
      const old = page.filter(({ sealed }) => keyVersionOf(sealed) !== keys.encryption.currentVersion);
      const { done, faults } = attemptEach(old, nameOf, (row) => ({ row, sealed: reseal(keys, row) }));
      const replaced = await Promise.all(done.map(({ row, sealed }) => replace(tx, row, sealed)));
      const resealed = replaced.filter((isReplaced) => isReplaced).length;
      return { ...stepOf(page, rowsMax, nameOf, faults), resealed };
    },
    async verify(tx, keys, position, limit) {
      const rowsMax = Math.min(limit, stepMax);
      const page = await list(tx, position, rowsMax);
      return stepOf(page, rowsMax, nameOf, attemptEach(page, nameOf, (row) => open(keys, row)).faults);
    },
  };
}

const placeOf = ({ definition_id, version }: VersionRow): string => `${definition_id}:${version}`;

function placeIn(position: string): Pick<VersionRow, 'definition_id' | 'version'> {
  const [id, version] = position.split(':');
  return { definition_id: id || FIRST_ID, version: Number(version ?? 0) };
}

export interface DefinitionTableNames {
  readonly rows: string;
  readonly versions: string;
  readonly figures: string;
}

/** The records of the tables that every kind has. */
export function definitionTables<S extends DefinitionShape>(
  { rows, versions, sealing }: Pick<DefinitionKind<S>, 'rows' | 'versions' | 'sealing'>,
  names: DefinitionTableNames,
): Readonly<Record<keyof DefinitionTableNames, TableRecord>> {
  return {
    rows: defineTable({
      name: names.rows,
      fate: 'with its tenant',
      sealed: sealedRows<S['row']>({
        list: (tx, position, limit) => rows.walk(tx, position || FIRST_ID, limit),
        nameOf: ({ id }) => id,
        open: sealing.open,
        reseal: sealing.reseal,
        replace: rows.replaceSealed,
      }),
    }),
    versions: defineTable({
      name: names.versions,
      fate: 'with its tenant',
      refersTo: [names.rows],
      sealed: sealedRows<VersionRow>({
        list: (tx, position, limit) => versions.walk(tx, placeIn(position), limit),
        nameOf: placeOf,
        open: sealing.openVersion,
        reseal: sealing.resealVersion,
        replace: versions.replaceSealed,
      }),
    }),
    figures: defineTable({ name: names.figures, fate: 'with its tenant', refersTo: [names.rows] }),
  };
}
