import { CREDENTIAL_CACHE } from './access/cache.js';
import type { Credential } from './access/credential.js';
import type { Config } from './config.js';
import type { Core } from './core.js';
import { listenTarget } from './core.js';
import type { CurrentProxy } from './resources/proxies/index.js';
import { PROXY_CACHE } from './resources/proxies/index.js';
import type { CurrentReactor } from './resources/reactors/index.js';
import { REACTOR_CACHE } from './resources/reactors/index.js';
import type { TenantBody } from './resources/tenants/index.js';
import { TENANT_CACHE } from './resources/tenants/index.js';
import { CACHES } from './resources.js';
import { listenForChanges, sendEcho } from './storage/changes.js';
import { createMemories } from './storage/memories.js';
import type { Memory } from './storage/memory.js';
import type { ProcessLog } from './telemetry/process-log.js';

export interface CachesOptions {
  readonly config: Config;
  readonly core: Pick<Core, 'database' | 'keyStore' | 'target'>;
  readonly log: ProcessLog;
}

/** What this process remembers of the database, as long as it hears of changes made by others. */
export interface Caches {
  readonly credentials: Memory<Credential>;
  readonly tenants: Memory<TenantBody>;
  readonly proxies: Memory<CurrentProxy>;
  readonly reactors: Memory<CurrentReactor>;
  /** Drops what is remembered of a tenant's rights and of what acts with them. */
  readonly forgetAccess: (tenantId: string) => void;
  readonly isHearing: () => boolean;
  close(): Promise<void>;
}

const REMEMBERED_MAX = 10_000;
/** Of Proxies, and of Reactors, whose code and settings may have a megabyte each. */
const REMEMBERED_BYTES_MAX = 67_108_864;
const DEAF_WARNING =
  'notices of changes do not arrive, so nothing is remembered and every request asks the database; behind a proxy that pools connections set STRONGROOM_DATABASE_LISTEN_URL to the server itself, and where it is set check its host, login and password';

/** Also has the keyring of the core remember keys by the same rule. */
export function createCaches({ config, core, log }: CachesOptions): Caches {
  const { keyring } = core.keyStore;
  const changes = listenForChanges({
    target: listenTarget(config, core.target),
    sendEcho: (echo) => sendEcho(core.database, echo),
    onDeaf: () => log.main.warn(DEAF_WARNING),
    onChange: (change) => {
      memories.onChange(change);
      if (change.kind === 'access') keyring.evict(change.tenantId);
    },
    onGap: () => {
      memories.forgetAll();
      keyring.clear();
    },
  });
  const { isHearing } = changes;
  keyring.rememberOnlyWhile(isHearing);
  const memories = createMemories(CACHES, {
    entriesMax: REMEMBERED_MAX,
    bytesMax: REMEMBERED_BYTES_MAX,
    isTrusted: isHearing,
  });
  const credentials = memories.of(CREDENTIAL_CACHE);
  const proxies = memories.of(PROXY_CACHE);
  const reactors = memories.of(REACTOR_CACHE);
  return {
    credentials,
    tenants: memories.of(TENANT_CACHE),
    proxies,
    reactors,
    forgetAccess(tenantId) {
      credentials.forgetTenant(tenantId);
      proxies.forgetTenant(tenantId);
      reactors.forgetTenant(tenantId);
    },
    isHearing,
    close: () => changes.close(),
  };
}
