import type { Bulk } from '../../../storage/bulk.js';
import type { FigureGrowth, FigureTable } from '../../definitions/figures/queries.js';
import { addFiguresOf, createFigureQueries } from '../../definitions/figures/queries.js';

const REACTOR_FIGURE_TABLE: FigureTable = {
  table: 'reactor_figures',
  one: 'reactor',
  owners: 'reactors',
  owner: 'reactor_id',
  oldName: 'list_tenants_with_old_figures',
};

const ADD_REACTOR_FIGURES: Bulk<FigureGrowth, never, void> = addFiguresOf(REACTOR_FIGURE_TABLE, 96);

export const REACTOR_FIGURES = createFigureQueries(REACTOR_FIGURE_TABLE, ADD_REACTOR_FIGURES);
export const { add: addReactorFigures, list: listReactorFigures } = REACTOR_FIGURES;
