import { FIRST_ID } from '../../kernel/ids.js';
import { defineTable } from '../../tables/table.js';
import { definitionTables, sealedRows } from '../definitions/walk.js';
import { REACTOR_KIND } from './definition/kind.js';
import { openRequest, resealRequest } from './queue/content.js';
import type { RequestRow } from './queue/queries.js';
import { replaceSealedRequest, walkRequests } from './queue/queries.js';

/** A request may have five megabytes, and a step holds its rows. */
const STEP_REQUESTS_MAX = 4;

const { rows, versions, figures } = definitionTables(REACTOR_KIND, {
  rows: 'reactors',
  versions: 'reactor_versions',
  figures: 'reactor_figures',
});

export const REACTOR_TABLES = [
  rows,
  versions,
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
  figures,
];
