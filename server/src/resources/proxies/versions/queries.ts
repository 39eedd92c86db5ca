import { createVersionQueries } from '../../definitions/version-queries.js';

export const PROXY_VERSIONS = createVersionQueries({ table: 'proxy_versions', one: 'proxy', owner: 'proxy_id' });
