import type { SystemKeys } from './crypto/system-keys.js';
import { createCursors } from './http/cursor.js';
import type { RouteRecord } from './http/route.js';
import { createLogs, logRoutes } from './resources/logs/index.js';
import { permissionRoutes } from './resources/permissions/index.js';
import { createReports, reportRoutes } from './resources/reports/index.js';
import type { Tenants } from './resources/tenants/index.js';
import { tenantRoutes } from './resources/tenants/index.js';
import type { Database } from './storage/database.js';

export interface ResourceOptions {
  readonly database: Database;
  readonly systemKeys: SystemKeys;
  readonly tenants: Tenants;
  readonly includedMonthlyActiveTokens: number;
}

/** Every resource of the tenant API, one line each. */
export function tenantApiRoutes(options: ResourceOptions): RouteRecord[] {
  const cursors = createCursors(options.systemKeys.cursorMac);
  return [
    ...permissionRoutes(),
    ...logRoutes(createLogs({ ...options, cursors })),
    ...tenantRoutes(options.tenants),
    ...reportRoutes(createReports(options)),
  ];
}
