import type { Bulk } from '../../../storage/bulk.js';
import type { FigureGrowth, FigureTable } from '../../definitions/figures/queries.js';
import { addFiguresOf, createFigureQueries } from '../../definitions/figures/queries.js';

const PROXY_FIGURE_TABLE: FigureTable = {
  table: 'proxy_figures',
  one: 'proxy',
  owners: 'proxies',
  owner: 'proxy_id',
  oldName: 'list_tenants_with_old_proxy_figures',
};

const ADD_PROXY_FIGURES: Bulk<FigureGrowth, never, void> = addFiguresOf(PROXY_FIGURE_TABLE, 97);

export const PROXY_FIGURES = createFigureQueries(PROXY_FIGURE_TABLE, ADD_PROXY_FIGURES);
