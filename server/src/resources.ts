import type { SystemKeys } from './crypto/system-keys.js';
import type { Expressions } from './expressions/expressions.js';
import { createCursors } from './http/paging/cursor.js';
import type { RouteRecord } from './http/routes/route.js';
import type { LargeWork } from './kernel/large-work.js';
import { applicationTemplateRoutes } from './resources/application-templates/index.js';
import type { AccessHooks } from './resources/applications/index.js';
import { applicationRoutes, createApplications } from './resources/applications/index.js';
import { createLogs, logRoutes } from './resources/logs/index.js';
import { permissionRoutes } from './resources/permissions/index.js';
import { createReports, reportRoutes } from './resources/reports/index.js';
import { createSessions, sessionRoutes } from './resources/sessions/index.js';
import type { TenantBody, Tenants } from './resources/tenants/index.js';
import { tenantRoutes } from './resources/tenants/index.js';
import type { Fingerprints, Opener, SearchData, TokenSettings } from './resources/tokens/index.js';
import { createTokens, tokenRoutes } from './resources/tokens/index.js';
import type { Database } from './storage/database.js';

export interface ResourceOptions {
  readonly database: Database;
  readonly systemKeys: SystemKeys;
  readonly tenants: Tenants;
  readonly accessHooks: AccessHooks;
  readonly includedMonthlyActiveTokens: number;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly tokensPerRequestMax: number;
  readonly fingerprints: Fingerprints;
  readonly searchData: SearchData;
  readonly largeWork: LargeWork;
}

/** Every resource of the tenant API, one line each. */
export function tenantApiRoutes(options: ResourceOptions): RouteRecord[] {
  const cursors = createCursors(options.systemKeys.cursorMac);
  return [
    ...permissionRoutes(),
    ...logRoutes(createLogs({ ...options, cursors })),
    ...tenantRoutes(options.tenants),
    ...reportRoutes(createReports(options)),
    ...applicationRoutes(createApplications({ ...options, ...options.accessHooks })),
    ...applicationTemplateRoutes(),
    ...tokenRoutes(
      createTokens({ ...options, cursors, settingsOf: (tenantId) => tokenSettings(options.tenants, tenantId) }),
    ),
    ...sessionRoutes(createSessions({ ...options, ...options.accessHooks })),
  ];
}

function tokenSettings(tenants: Tenants, tenantId: string): TokenSettings | Promise<TokenSettings> {
  const tenant = tenants.get(tenantId);
  return tenant instanceof Promise ? tenant.then(settingsIn) : settingsIn(tenant);
}

function settingsIn({ settings }: TenantBody): TokenSettings {
  return {
    isFingerprinting: settings.fingerprint_tokens === 'true',
    isDeduplicating: settings.deduplicate_tokens === 'true',
  };
}
