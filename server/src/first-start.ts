import { permissionsOf } from './access/permissions.js';
import { operatorContext } from './audit/entry.js';
import type { Core } from './core.js';
import type { Clock } from './kernel/clock.js';
import { newId } from './kernel/ids.js';
import type { Secret } from './kernel/secret.js';
import { createApplication } from './resources/applications/index.js';
import { createTenant } from './resources/tenants/index.js';
import { hasAnyUser } from './resources/users/index.js';
import { isUniqueViolation } from './storage/faults.js';

export interface FirstTenant {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly key: Secret<string>;
  readonly isPreset: boolean;
}

/** The same in every installation, so that of two processes at their first start only one can insert it. */
const FIRST_OWNER_ID = '00000000-0000-4000-8000-000000000001';

/** On an empty database: an owner, a tenant and a management Application with every management permission. */
export async function makeFirstTenant(
  core: Pick<Core, 'database' | 'keyStore'>,
  clock: Clock,
  presetKey: Secret<string> | undefined,
): Promise<FirstTenant | undefined> {
  if (await core.database.lookUp(hasAnyUser)) return undefined;
  const tenantId = newId();
  const auditContext = operatorContext(clock.nowMs());
  const keyMaker = await core.keyStore.keyMaker();
  try {
    const application = await core.database.write(tenantId, async (tx) => {
      await createTenant(tx, keyMaker, auditContext, {
        name: 'First tenant',
        ownerId: FIRST_OWNER_ID,
        isNewOwner: true,
      });
      return createApplication(tx, core.keyStore.systemKeys, auditContext, {
        name: 'First management application',
        type: 'management',
        permissions: permissionsOf('management'),
        presetKey,
      });
    });
    return { tenantId, applicationId: application.id, key: application.key, isPreset: presetKey !== undefined };
  } catch (error) {
    if (isUniqueViolation(error)) return undefined;
    throw error;
  }
}
