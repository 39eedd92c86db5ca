import { permissionsOf } from './access/permissions.js';
import { operatorContext } from './audit/entry.js';
import type { Config } from './config.js';
import { SETTINGS } from './config.js';
import type { Core } from './core.js';
import type { PasswordCost } from './crypto/password-hash.js';
import { createPasswordHasher } from './crypto/password-hash.js';
import type { SmallSecretFile } from './crypto/small-secret-file.js';
import { readSmallSecretFile, SecretFileError } from './crypto/small-secret-file.js';
import type { Clock } from './kernel/clock.js';
import { EXIT, ExitError } from './kernel/exit.js';
import { newId } from './kernel/ids.js';
import { Secret } from './kernel/secret.js';
import type { FirstOwner, OwnerSignIn } from './people/first-owner.js';
import { createFirstOwner, FIRST_OWNER_ID } from './people/first-owner.js';
import { createLinks } from './people/links/links.js';
import { loadPasswordPolicy } from './people/password/policy.js';
import { createPortalAddress } from './people/portal-address.js';
import { hasAnyUser } from './people/users/queries.js';
import { createApplication } from './resources/applications/index.js';
import { makeOwnerOfOlderTenants } from './resources/members/index.js';
import { createTenant, tenantMaker } from './resources/tenants/index.js';
import { createSecurityLog } from './security-log.js';
import { isUniqueViolation } from './storage/faults.js';
import type { ProcessLog } from './telemetry/process-log.js';

export interface FirstTenant {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly key: Secret<string>;
  readonly isPreset: boolean;
}

/** What a start has to tell the operator, once. */
export interface Beginning {
  /** On an empty database alone. */
  readonly tenant: FirstTenant | undefined;
  /** Its address. */
  readonly portal: string;
  /** The address by which the owner sets up its sign-in, at each start until it has. */
  readonly setUpLink: Secret<string> | undefined;
}

export interface BeginningOptions {
  readonly core: Pick<Core, 'database' | 'keyStore'>;
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly config: Pick<Config, 'env' | 'bootstrapApiKey' | 'ownerEmail' | 'ownerPasswordFile' | 'portalUrl'>;
  /** Where the server listens. */
  readonly port: number;
  /** Lower in tests. */
  readonly passwordCost?: PasswordCost;
}

/** The first tenant where there is none, and a way for its owner to sign in as long as it has none. */
export async function beginInstallation(options: BeginningOptions): Promise<Beginning> {
  const { core, clock, config } = options;
  const owner = openFirstOwner(options);
  // Before anything is made: a key that was shown must not be followed by an end.
  const signIn = await signInFrom(options, owner);
  const tenant = await makeFirstTenant(core, clock, config.bootstrapApiKey);
  const portal = `${createPortalAddress(config.portalUrl, options.port).url()}/portal/`;
  if (signIn) {
    await setUpOwner(options, owner, signIn);
    return { tenant, portal, setUpLink: undefined };
  }
  const secret = await owner.makeLink();
  return { tenant, portal, setUpLink: secret && new Secret(`${portal}set-up#${secret.reveal()}`) };
}

/** On an empty database: an owner, a tenant and a management Application with every management permission. */
export async function makeFirstTenant(
  core: Pick<Core, 'database' | 'keyStore'>,
  clock: Clock,
  presetKey: Secret<string> | undefined,
): Promise<FirstTenant | undefined> {
  if (await core.database.lookUp(hasAnyUser)) return undefined;
  const tenantId = newId();
  const auditContext = operatorContext(clock.nowMs());
  const maker = await tenantMaker(core.keyStore);
  try {
    const application = await core.database.write(tenantId, async (tx) => {
      await createTenant(tx, maker, auditContext, {
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

function openFirstOwner({ core, clock, log, passwordCost: cost }: BeginningOptions): FirstOwner {
  const { systemKeys } = core.keyStore;
  return createFirstOwner({
    database: core.database,
    clock,
    links: createLinks({ clock, keys: systemKeys }),
    rowMacKey: systemKeys.rowMac,
    passwords: createPasswordHasher({ rowMacKey: systemKeys.rowMac, ...(cost && { cost }) }),
    security: createSecurityLog(log),
  });
}

/** What the settings give the owner to sign in with; not looked at once the owner can. */
async function signInFrom(options: BeginningOptions, owner: FirstOwner): Promise<OwnerSignIn | undefined> {
  const { core, config, log } = options;
  const { ownerEmail: email, ownerPasswordFile: path } = config;
  if (email === undefined || path === undefined) return undefined;
  const isNew = !(await core.database.lookUp(hasAnyUser));
  if (!isNew && !(await owner.isWaiting())) return undefined;
  const { text: password, isOpenToOthers } = await readPassword(path);
  if (isOpenToOthers) {
    const advice = `${SETTINGS.ownerPasswordFile.name} names ${path}, which is open to other users. Run "chmod 600 ${path}".`;
    if (config.env === 'production') throw fault(advice);
    log.main.warn(advice);
  }
  const faults = loadPasswordPolicy().faultsOf(password.reveal(), { email });
  if (faults.length > 0) {
    throw fault(
      `The password in the file that ${SETTINGS.ownerPasswordFile.name} names is not good: ${faults.join(' ')}`,
    );
  }
  return { email, password };
}

async function readPassword(path: string): Promise<SmallSecretFile> {
  try {
    return await readSmallSecretFile(path);
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    throw fault(`${SETTINGS.ownerPasswordFile.name} names ${path}, which ${error.message}.`, error);
  }
}

async function setUpOwner(options: BeginningOptions, owner: FirstOwner, signIn: OwnerSignIn): Promise<void> {
  const { database, keyStore } = options.core;
  // First, so that a process killed in between leaves an owner who still waits, and the next start does both.
  await makeOwnerOfOlderTenants(database, keyStore.systemKeys.rowMac, FIRST_OWNER_ID, options.clock.nowMs());
  if ((await owner.setUp(signIn)) !== 'address taken') return;
  throw fault(`${SETTINGS.ownerEmail.name} is the address of another user. "strongroom user list" shows whose.`);
}

function fault(message: string, cause?: unknown): ExitError {
  return new ExitError(EXIT.configuration, message, cause);
}
