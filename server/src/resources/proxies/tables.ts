import { definitionTables } from '../definitions/walk.js';
import { PROXY_KIND } from './definition/kind.js';

const { rows, versions, figures } = definitionTables(PROXY_KIND, {
  rows: 'proxies',
  versions: 'proxy_versions',
  figures: 'proxy_figures',
});

export const PROXY_TABLES = [rows, versions, figures];
