import type { ApplicationType, Permission } from './permissions.js';

/** Who a request acts as. The tenant comes from here and from nowhere else. */
export interface Principal {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly applicationType: ApplicationType;
  readonly permissions: ReadonlySet<Permission>;
}
