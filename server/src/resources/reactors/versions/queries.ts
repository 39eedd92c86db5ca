import { createVersionQueries } from '../../definitions/version-queries.js';

export const REACTOR_VERSIONS = createVersionQueries({
  table: 'reactor_versions',
  one: 'reactor',
  owner: 'reactor_id',
});
export const { list: listReactorVersions } = REACTOR_VERSIONS;
