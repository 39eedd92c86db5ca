import type { DefinitionFilter, DefinitionRow } from '../definitions/queries.js';
import { createRowQueries } from '../definitions/queries.js';

export type ReactorRow = DefinitionRow;
export type ReactorFilter = DefinitionFilter;

export const REACTOR_ROWS = createRowQueries<ReactorRow>({ table: 'reactors', one: 'reactor', many: 'reactors' });
export const { find: findReactor, list: listReactors, count: countReactors } = REACTOR_ROWS;
