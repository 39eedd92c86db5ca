import { keyVersionOf } from '../../crypto/aead.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { FIRST_ID } from '../../kernel/ids.js';
import type { TenantTx } from '../../storage/scope.js';
import { defineTable } from '../../tables/table.js';
import type { SealedRows } from '../../tables/walk.js';
import { attemptEach, stepOf } from '../../tables/walk.js';
import { openReactor, openVersion, resealReactor, resealVersion } from './definition/content.js';
import type { ReactorRow } from './queries.js';
import { replaceSealedReactor, walkReactors } from './queries.js';
import { openRequest, resealRequest } from './queue/content.js';
import type { RequestRow } from './queue/queries.js';
import { replaceSealedRequest, walkRequests } from './queue/queries.js';
import type { VersionRow } from './versions/queries.js';
import { replaceSealedVersion, walkReactorVersions } from './versions/queries.js';

/** A record may have a megabyte, and a step holds its rows. */
const STEP_ROWS_MAX = 16;
/** A request may have five. */
const STEP_REQUESTS_MAX = 4;

interface Walked<Row> {
  readonly rowsMax?: number;
  readonly list: (tx: TenantTx, position: string, limit: number) => Promise<Row[]>;
  readonly nameOf: (row: Row) => string;
  readonly open: (keys: TenantKeys, row: Row) => unknown;
  readonly reseal: (keys: TenantKeys, row: Row) => Buffer;
  readonly replace: (tx: TenantTx, row: Row, sealed: Buffer) => Promise<boolean>;
}

function sealedRows<Row extends { readonly sealed: Buffer }>(walked: Walked<Row>): SealedRows {
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

const placeOf = ({ reactor_id, version }: VersionRow): string => `${reactor_id}:${version}`;

function placeIn(position: string): Pick<VersionRow, 'reactor_id' | 'version'> {
  const [id, version] = position.split(':');
  return { reactor_id: id || FIRST_ID, version: Number(version ?? 0) };
}

export const REACTOR_TABLES = [
  defineTable({
    name: 'reactors',
    fate: 'with its tenant',
    sealed: sealedRows<ReactorRow>({
      list: (tx, position, limit) => walkReactors(tx, position || FIRST_ID, limit),
      nameOf: ({ id }) => id,
      open: openReactor,
      reseal: resealReactor,
      replace: replaceSealedReactor,
    }),
  }),
  defineTable({
    name: 'reactor_versions',
    fate: 'with its tenant',
    refersTo: ['reactors'],
    sealed: sealedRows<VersionRow>({
      list: (tx, position, limit) => walkReactorVersions(tx, placeIn(position), limit),
      nameOf: placeOf,
      open: openVersion,
      reseal: resealVersion,
      replace: replaceSealedVersion,
    }),
  }),
  defineTable({
    name: 'reactor_requests',
    fate: 'with its tenant',
    refersTo: ['reactors'],
    sealed: sealedRows<RequestRow>({
      rowsMax: STEP_REQUESTS_MAX,
      list: (tx, position, limit) => walkRequests(tx, position || FIRST_ID, limit),
      nameOf: ({ id }) => id,
      open: openRequest,
      reseal: resealRequest,
      replace: replaceSealedRequest,
    }),
  }),
  defineTable({ name: 'reactor_figures', fate: 'with its tenant', refersTo: ['reactors'] }),
];
