import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type { ProductOptions } from './product.js';

/** As the embedded server has them, so that the way to the server is what differs. */
export const SERVER_SETTINGS = { fsync: 'on', shared_buffers: '128MB', jit: 'off' };

/** How the product is started on a server that it is led to by URL. */
export function byUrl(postgres: PostgresServer): Pick<ProductOptions, 'env' | 'postmaster'> {
  return {
    env: {
      STRONGROOM_DATABASE_URL: postgres.url('service'),
      STRONGROOM_MIGRATION_DATABASE_URL: postgres.url('owner'),
    },
    postmaster: postgres.pid(),
  };
}
